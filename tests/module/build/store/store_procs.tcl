proc store_where {} { ns_module name }
