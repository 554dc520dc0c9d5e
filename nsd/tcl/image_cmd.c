/* SPDX-License-Identifier: MPL-2.0
 * image_cmd.c --
 *
 *      Pictures: ns_imgtype, ns_imgmime, ns_imgsize, ns_gifsize, ns_jpegsize,
 *      ns_pngsize.
 */

#include <sys/mman.h>

#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/image.h"
#include "tcl/interp.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc SizeCmd, KindCmd, SizeOfKindCmd;

static int  Map(Tcl_Interp *interp, const char *file, NsImageBytes *imagePtr);
static void Unmap(NsImageBytes *imagePtr);
static void SetSize(Tcl_Interp *interp, int width, int height);

#define IS_MIME 1 /* With `image/` in front. */

static const NsTclCommand commands[] = {
    {"ns_imgtype", KindCmd, 1, 1, "file", NS_TCL_BASIC},
    {"ns_imgmime", KindCmd, 1, 1, "file", NS_TCL_DATA(IS_MIME) | NS_TCL_BASIC},
    {"ns_imgsize", SizeCmd, 1, 1, "file", NS_TCL_BASIC},
    {"ns_gifsize", SizeOfKindCmd, 1, 1, "gif_file",
     NS_TCL_DATA(NS_IMAGE_GIF) | NS_TCL_BASIC},
    {"ns_jpegsize", SizeOfKindCmd, 1, 1, "jpeg_file",
     NS_TCL_DATA(NS_IMAGE_JPEG) | NS_TCL_BASIC},
    {"ns_pngsize", SizeOfKindCmd, 1, 1, "png_file",
     NS_TCL_DATA(NS_IMAGE_PNG) | NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(Image, commands)

static int
KindCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        [NS_IMAGE_UNKNOWN] = "unknown",
        [NS_IMAGE_GIF] = "gif",
        [NS_IMAGE_JPEG] = "jpeg",
        [NS_IMAGE_PNG] = "png"};
    const char  *prefix = NsTclData(clientData) == IS_MIME ? "image/" : "";
    NsImageBytes image;

    if (Map(interp, Tcl_GetString(objv[1]), &image) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_TclPrintfResult(interp, "%s%s", prefix, names[NsImageDetect(image)]);
    Unmap(&image);
    return TCL_OK;
}

/*
 * The message for a file that is not a picture is a size, so that scripts that
 * ignore the error find one.
 */
static int
SizeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsImageBytes image;
    NsImageKind  kind;
    int          width = 0, height = 0;
    bool         isPicture;

    if (Map(interp, Tcl_GetString(objv[1]), &image) != TCL_OK) {
        return TCL_ERROR;
    }
    kind = NsImageDetect(image);
    isPicture = kind != NS_IMAGE_UNKNOWN
        && NsImageSize(image, kind, &width, &height);
    Unmap(&image);
    SetSize(interp, width, height);
    return isPicture ? TCL_OK : TCL_ERROR;
}

static int
SizeOfKindCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    static const char *const labels[] = {[NS_IMAGE_GIF] = "GIF",
                                         [NS_IMAGE_JPEG] = "JPEG",
                                         [NS_IMAGE_PNG] = "PNG"};
    NsImageKind              kind = (NsImageKind) NsTclData(clientData);
    NsImageBytes             image;
    int                      width, height;
    bool                     isPicture;

    if (Map(interp, Tcl_GetString(objv[1]), &image) != TCL_OK) {
        return TCL_ERROR;
    }
    isPicture = NsImageSize(image, kind, &width, &height);
    Unmap(&image);
    if (!isPicture) {
        return NsTclFail(interp, "invalid %s file \"%s\"", labels[kind],
                         Tcl_GetString(objv[1]));
    }
    SetSize(interp, width, height);
    return TCL_OK;
}

/*
 * An empty file maps to no bytes, and so does what is not a file.
 */
static int
Map(Tcl_Interp *interp, const char *file, NsImageBytes *imagePtr)
{
    struct stat status;
    void       *map = NULL;
    int         fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *imagePtr = (NsImageBytes){NULL, 0};
    if (fd < 0 || fstat(fd, &status) != 0) {
        map = MAP_FAILED;
    } else if (S_ISREG(status.st_mode) && status.st_size > 0) {
        map = mmap(NULL, (size_t) status.st_size, PROT_READ, MAP_PRIVATE, fd,
                   0);
    }
    if (map == MAP_FAILED) {
        Ns_TclPrintfResult(interp, "couldn't open \"%s\": %s", file,
                           Tcl_PosixError(interp));
        if (fd >= 0) {
            close(fd);
        }
        return TCL_ERROR;
    }
    if (map != NULL) {
        *imagePtr = (NsImageBytes){map, (size_t) status.st_size};
    }
    close(fd);
    return TCL_OK;
}

static void
Unmap(NsImageBytes *imagePtr)
{
    if (imagePtr->length > 0) {
        munmap((void *) (uintptr_t) imagePtr->bytes, imagePtr->length);
    }
}

static void
SetSize(Tcl_Interp *interp, int width, int height)
{
    Tcl_Obj *pair[2] = {Tcl_NewIntObj(width), Tcl_NewIntObj(height)};

    Tcl_SetObjResult(interp, Tcl_NewListObj(2, pair));
}
