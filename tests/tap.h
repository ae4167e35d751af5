/* SPDX-License-Identifier: Apache-2.0 */
/* TAP for unit tests: ok(condition, "name %d", ...) per check, return tap_done() from main. */
#ifndef GNN_TESTS_TAP_H
#define GNN_TESTS_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 4, 5), unused)) static bool tap_check(bool pass, const char *file,
                                                                    int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%sok %d - ", pass ? "" : "not ", ++tap_count);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    if (!pass) {
        tap_failed++;
        printf("# failed at %s:%d\n", file, line);
    }
    fflush(stdout);
    return pass;
}
#define ok(cond, ...) tap_check((cond), __FILE__, __LINE__, __VA_ARGS__)

/* Whether all of a test's matrix is run, not a choice: see the tiers in CONTRIBUTING.md. */
__attribute__((unused)) static bool tap_wide(void)
{
    const char *sweep = getenv("GNN_SWEEP");
    return sweep && (!strcmp(sweep, "more") || !strcmp(sweep, "all"));
}

/* The larger of two differences. A NaN is larger than any number; fmax() would forget it. */
__attribute__((unused)) static double worst_of(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

__attribute__((unused)) static int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}

#endif
