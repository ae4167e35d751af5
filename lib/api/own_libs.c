/* SPDX-License-Identifier: Apache-2.0 */
/* oneDNN, libarchive and libyaml of libgnn.so: loaded when they are first needed, and out of sight
 * of the rest of the process, which may have other versions of them, as PyTorch has of oneDNN. Here
 * are the functions that the rest of the library calls by their names. */
#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

#define TEXT(x) #x
#define NUMBERED(name, major) name "." TEXT(major)

static void *dnnl_lib, *archive_lib, *yaml_lib;

static void load_dnnl(void)
{
    dnnl_lib = dlopen(NUMBERED("libdnnl.so", DNNL_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
}

static void load_archive(void)
{
    archive_lib = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
}

static void load_yaml(void)
{
    yaml_lib = dlopen("libyaml-0.so.2", RTLD_NOW | RTLD_LOCAL);
}

/* A function of one of them, which stays loaded; NULL: it is not installed. */
static void *find_function(void **library, void (*load)(void), const char *name)
{
    static pthread_once_t once[3] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};
    (void)pthread_once(&once[library == &dnnl_lib ? 0 : library == &archive_lib ? 1 : 2], load);
    return *library ? dlsym(*library, name) : NULL;
}

#define FUNCTION(library, name)                                                                    \
    __typeof__(name) *f;                                                                           \
    *(void **)&f = find_function(&library##_lib, load_##library, #name)

dnnl_status_t dnnl_sgemm(char transa, char transb, dnnl_dim_t M, dnnl_dim_t N, dnnl_dim_t K,
                         float alpha, const float *A, dnnl_dim_t lda, const float *B,
                         dnnl_dim_t ldb, float beta, float *C, dnnl_dim_t ldc)
{
    FUNCTION(dnnl, dnnl_sgemm);
    return f ? f(transa, transb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc) : dnnl_unimplemented;
}

dnnl_cpu_isa_t dnnl_get_effective_cpu_isa(void)
{
    FUNCTION(dnnl, dnnl_get_effective_cpu_isa);
    return f ? f() : dnnl_cpu_isa_sse41;
}

/* NULL also where there is no libarchive: no other function is called then. */
struct archive *archive_read_new(void)
{
    FUNCTION(archive, archive_read_new);
    return f ? f() : NULL;
}

#define ARCHIVE(type, name, params, args)                                                          \
    type name params                                                                               \
    {                                                                                              \
        FUNCTION(archive, name);                                                                   \
        return f args;                                                                             \
    }
#define OF_READER(name) ARCHIVE(int, name, (struct archive * a), (a))
#define OF_ENTRY(type, name) ARCHIVE(type, name, (struct archive_entry * x), (x))

OF_READER(archive_errno)
OF_READER(archive_format)
OF_READER(archive_read_data_skip)
OF_READER(archive_read_free)
OF_READER(archive_read_open1)
OF_READER(archive_read_support_filter_xz)
OF_READER(archive_read_support_filter_zstd)
OF_READER(archive_read_support_format_raw)
OF_READER(archive_read_support_format_tar)
OF_READER(archive_read_support_format_zip)
OF_ENTRY(__LA_MODE_T, archive_entry_filetype)
OF_ENTRY(const char *, archive_entry_hardlink)
OF_ENTRY(int, archive_entry_is_encrypted)
OF_ENTRY(const char *, archive_entry_pathname)
OF_ENTRY(const char *, archive_entry_pathname_utf8)
OF_ENTRY(la_int64_t, archive_entry_size)
ARCHIVE(const char *, archive_error_string, (struct archive * a), (a))
ARCHIVE(la_int64_t, archive_filter_bytes, (struct archive * a, int n), (a, n))
ARCHIVE(la_ssize_t, archive_read_data, (struct archive * a, void *to, size_t n), (a, to, n))
ARCHIVE(int, archive_read_next_header, (struct archive * a, struct archive_entry **x), (a, x))
ARCHIVE(int, archive_read_set_callback_data, (struct archive * a, void *data), (a, data))
ARCHIVE(int, archive_read_set_read_callback, (struct archive * a, archive_read_callback *call),
        (a, call))
ARCHIVE(int, archive_read_set_seek_callback, (struct archive * a, archive_seek_callback *call),
        (a, call))

void archive_set_error(struct archive *a, int number, const char *fmt, ...)
{
    FUNCTION(archive, archive_set_error);
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    f(a, number, "%s", text);
}

/* 0 also where there is no libyaml: no other function is called then. */
int yaml_parser_initialize(yaml_parser_t *parser)
{
    FUNCTION(yaml, yaml_parser_initialize);
    return f ? f(parser) : 0;
}

void yaml_parser_set_input_string(yaml_parser_t *parser, const unsigned char *input, size_t size)
{
    FUNCTION(yaml, yaml_parser_set_input_string);
    f(parser, input, size);
}

int yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
    FUNCTION(yaml, yaml_parser_parse);
    return f(parser, event);
}

void yaml_event_delete(yaml_event_t *event)
{
    FUNCTION(yaml, yaml_event_delete);
    f(event);
}

void yaml_parser_delete(yaml_parser_t *parser)
{
    FUNCTION(yaml, yaml_parser_delete);
    f(parser);
}
