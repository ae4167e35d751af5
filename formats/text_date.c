/* SPDX-License-Identifier: Apache-2.0 */
/* Dates in text (formats/text.h): the part of ISO 8601 that databases and pandas write. */
#include <string.h>

#include "formats/text.h"

/* n digits at *p, which then is behind them; -1: there are fewer. */
static int take_digits(const char **p, const char *end, int n)
{
    int v = 0;
    if (end - *p < n)
        return -1;
    for (; n; n--, ++*p) {
        if (**p < '0' || **p > '9')
            return -1;
        v = 10 * v + (**p - '0');
    }
    return v;
}

static bool take_any(const char **p, const char *end, const char *any)
{
    const bool is = *p < end && **p && strchr(any, **p);
    *p += is;
    return is;
}

static int days_of_month(int year, int month)
{
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 ? 28 + leap : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/* Days from 1970-01-01 on, in the Gregorian calendar: those of years before, and of months. */
static int64_t count_days(int year, int month, int day)
{
    const int64_t y = year - 1;
    int64_t days = y * 365 + y / 4 - y / 100 + y / 400 - 719162;
    for (int m = 1; m < month; m++)
        days += days_of_month(year, m);
    return days + day - 1;
}

static bool take_day(const char **p, const char *end, int64_t *seconds)
{
    const int year = take_digits(p, end, 4);
    const bool dash = take_any(p, end, "-");
    const int month = take_digits(p, end, 2);
    if (year < 1 || !dash || month < 1 || month > 12 || !take_any(p, end, "-"))
        return false;
    const int day = take_digits(p, end, 2);
    if (day < 1 || day > days_of_month(year, month))
        return false;
    *seconds = count_days(year, month, day) * 86400;
    return true;
}

/* ":MM" or "MM", as the hours before it have a colon or not. */
static int take_minutes(const char **p, const char *end)
{
    take_any(p, end, ":");
    return take_digits(p, end, 2);
}

static bool take_time(const char **p, const char *end, int64_t *seconds, double *fraction)
{
    const int hour = take_digits(p, end, 2);
    if (hour < 0 || hour > 23 || !take_any(p, end, ":"))
        return false;
    const int minute = take_digits(p, end, 2);
    if (minute < 0 || minute > 59)
        return false;
    *seconds += hour * 3600 + minute * 60;
    if (!take_any(p, end, ":"))
        return true;
    const int second = take_digits(p, end, 2);
    if (second < 0 || second > 59)
        return false;
    *seconds += second;
    if (!take_any(p, end, "."))
        return true;
    int digits = 0;
    for (double unit = 0.1; *p < end && **p >= '0' && **p <= '9'; ++*p, digits++, unit /= 10)
        *fraction += unit * (**p - '0');
    return digits > 0;
}

/* "Z", " UTC", "+02:00", "-0530", or nothing. */
static bool take_zone(const char **p, const char *end, int64_t *seconds)
{
    if (*p == end || take_any(p, end, "Zz"))
        return true;
    if (end - *p == 4 && !memcmp(*p, " UTC", 4)) {
        *p = end;
        return true;
    }
    const bool ahead = **p == '+';
    if (!take_any(p, end, "+-"))
        return false;
    const int hour = take_digits(p, end, 2), minute = *p < end ? take_minutes(p, end) : 0;
    *seconds -= (ahead ? 1 : -1) * (hour * 3600 + minute * 60);
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
}

bool gnn_text_date(const struct gnn_word *w, bool *whole, int64_t *seconds, double *real)
{
    const char *p = w->p, *end = p + w->n;
    double fraction = 0;
    bool is = take_day(&p, end, seconds);
    if (is && p < end)
        is = take_any(&p, end, "T ") && take_time(&p, end, seconds, &fraction) &&
             take_zone(&p, end, seconds);
    *whole = fraction == 0;
    *real = (double)*seconds + fraction;
    return is && p == end;
}
