/* SPDX-License-Identifier: Apache-2.0 */
/* What a run depends on, as one line of text: checkpoints keep it, ranks compare it, and where two
 * differ, the option that makes the difference is named. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/option.h"
#include "lib/model/model_file.h"
#include "lib/train/train_impl.h"

/* Takes both texts over. */
static char *join_texts(char *a, char *b, struct gnn_err *e)
{
    char *both = a && b ? gnn_strf(e, "%s%s", a, b) : NULL;
    gnn_free(a);
    gnn_free(b);
    return both;
}

/* Appends a value of the header: "1,", of a list "3,3,", of a set "train 140,". */
static char *append_value(char *text, json_t *v, struct gnn_err *e)
{
    const json_t *name = json_object_get(v, "name"), *seeds = json_object_get(v, "seeds");
    json_t *x;
    size_t i;
    json_array_foreach(v, i, x)
    {
        text = append_value(text, x, e);
    }
    if (json_is_array(v))
        return text;
    return join_texts(
        text,
        name
            ? gnn_strf(e, "%s %lld,", json_string_value(name), (long long)json_integer_value(seeds))
        : json_is_object(v)  ? join_texts(gnn_json_text(v, JSON_COMPACT, e), gnn_strdup(",", e), e)
        : json_is_string(v)  ? gnn_strf(e, "%s,", json_string_value(v))
        : json_is_boolean(v) ? gnn_strf(e, "%d,", json_is_true(v))
                             : gnn_strf(e, "%lld,", (long long)json_integer_value(v)),
        e);
}

static char *append_member(char *text, const char *word, json_t *v, struct gnn_err *e)
{
    text = append_value(join_texts(text, gnn_strf(e, "%s ", word), e), v, e);
    return join_texts(text, gnn_strdup(" ", e), e);
}

/* How the batches were sampled: everything in the header's JSON except what changes no node and no
 * edge of a batch. Members that version 0.1 had come first, in its words, so that its checkpoints
 * can be resumed; others follow under their own names. "seed 1, size 8, fan-out 3,3, ... sets train
 * 140,valid 50, ". Full batches have layers in place of what is sampled. */
static char *batches_text(const struct gnn_meta *m, bool full, struct gnn_err *e)
{
    static const char *const words[][2] = {{"seed", "seed"},
                                           {"batch_size", "size"},
                                           {"fanout", "fan-out"},
                                           {"frontier", "frontier"},
                                           {"replace", "replace"},
                                           {"shuffle", "shuffle"},
                                           {"drop_last", "drop-last"},
                                           {"splits", "sets"},
                                           {"edge_ids", NULL},
                                           {"original_ids", NULL},
                                           {"seed_type", NULL},
                                           {"rank", NULL},
                                           {"ranks", NULL}};
    json_t *j = gnn_meta_sampling_json(m, e), *v;
    char *text = j ? gnn_strdup("", e) : NULL;
    const char *key;
    if (j && json_object_set_new(j, "seed", json_sprintf("%" PRIu64, m->sampling.seed)))
        gnn_fail_nomem(e, 0, "a checkpoint's description");
    static const char *const sampled[] = {"batch_size", "fanout", "frontier", "shuffle",
                                          "drop_last"};
    for (size_t i = 0; full && i < sizeof sampled / sizeof *sampled; i++)
        json_object_del(j, sampled[i]);
    if (j && full && json_object_set_new(j, "layers", json_integer(m->sampling.nhops)))
        gnn_fail_nomem(e, 0, "a checkpoint's description");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        v = json_object_get(j, words[i][0]);
        if (v && words[i][1])
            text = append_member(text, words[i][1], v, e);
        json_object_del(j, words[i][0]);
    }
    json_object_foreach(j, key, v)
    {
        text = append_member(text, key, v, e);
    }
    json_decref(j);
    return e->code ? join_texts(text, NULL, e) : text;
}

/* " with class weights 1,2.5", or "": runs without them have the words that they had before. */
static char *weights_text(const struct gnn_trainer *t, struct gnn_err *e)
{
    const uint32_t n = t->train.classes;
    char *text = gnn_strdup(t->o.class_weight ? " with class weights " : "", e);
    for (uint32_t i = 0; t->o.class_weight && i < n; i++)
        text =
            join_texts(text, gnn_strf(e, "%s%.9g", i ? "," : "", (double)t->o.class_weight[i]), e);
    return text;
}

/* "full batches, ", with their approximations, and "evaluated every N epochs, "; or "", as above.
 */
static char *pace_text(const struct gnn_trainer *t, struct gnn_err *e)
{
    char *text = gnn_strdup(t->o.full ? "full batches, " : "", e);
    const struct gnn_full_opts exact = {0}, *o = t->o.full ? gnn_full_options(t->o.full) : &exact;
    if (o->boundary > 0)
        text = join_texts(text, gnn_strf(e, "boundary %.17g, ", o->boundary), e);
    if (o->bf16)
        text = join_texts(text, gnn_strdup("messages bf16, ", e), e);
    if (t->o.eval_every > 1)
        text = join_texts(
            text, gnn_strf(e, "evaluated every %llu epochs, ", (unsigned long long)t->o.eval_every),
            e);
    return text;
}

/* What must be the same for the rest of the run to be the rest of that run. Doubles are printed so
 * that they can be told apart to the last bit. */
char *gnn_train_run_text(const struct gnn_trainer *t, struct gnn_err *e)
{
    const struct gnn_train_opts *o = &t->o;
    struct gnn_model_config c = t->m->c;
    c.untrained = NULL; /* changes during the run */
    char *batches = batches_text(t->meta, t->o.full, e), *config = gnn_model_config_text(&c, e);
    char *weights = weights_text(t, e), *pace = pace_text(t, e), *text = NULL, metric[48];
    int n[2];
    const char *optimizer = gnn_choice_word(GNN_OPTIMIZERS, o->optimizer, &n[0]),
               *schedule = gnn_choice_word(GNN_SCHEDULES, o->schedule, &n[1]);
    if (batches && config && weights && pace)
        text = gnn_strf(
            e,
            "store %s; batches: %s%soptimizer %.*s, schedule %.*s, lr %.17g, weight decay %.17g, momentum "
            "%.17g, betas %.17g %.17g, eps %.17g, clip %.17g, warm-up %llu, total %llu, step %llu "
            "%.17g, dropout %.17g %.17g, seed %llu, metric %s%s; model %s",
            t->meta->identity, batches, pace, n[0], optimizer, n[1], schedule, o->lr,
            o->weight_decay, o->momentum, o->beta1, o->beta2, o->eps, o->clip,
            (unsigned long long)o->warmup,
            (unsigned long long)(o->schedule == GNN_COSINE ? o->total_steps
                                                           : 0), /* else runs may be longer */
            (unsigned long long)o->step_epochs, o->step_factor, o->dropout, o->dropout_input,
            (unsigned long long)o->seed, gnn_measure_name(o->metric, metric), weights, config);
    gnn_free(batches);
    gnn_free(weights);
    gnn_free(pace);
    gnn_free(config);
    return text;
}

/* Steps over one item of what gnn_train_run_text wrote, "lr 0.01" or "fan-out 10,10", to what
 * separates it from the next one: a comma, semicolon or colon before a blank. */
static size_t item_length(const char *s)
{
    size_t n = 0;
    while (s[n] && !(strchr(",;:", s[n]) && s[n + 1] == ' '))
        n++;
    return n;
}

/* What the value of an item follows: "lr"; "weight decay" is another than "weight". */
static size_t key_length(const char *item)
{
    static const char decay[] = "weight decay";
    return !strncmp(item, decay, sizeof decay - 1) ? sizeof decay - 1 : strcspn(item, " ,;:");
}

/* The item of a text that has the same key as this one, or NULL. */
static const char *find_item(const char *text, const char *item)
{
    const size_t n = key_length(item);
    for (size_t len; *text; text += len + strspn(text + len, ",;: ")) {
        if (key_length(text) == n && !strncmp(text, item, n))
            return text;
        len = item_length(text);
    }
    return NULL;
}

/* The model of such a text, which ends with it; NULL: it has none. */
static const char *find_model(const char *run)
{
    static const char begin[] = "; model ";
    const char *at = strstr(run, begin);
    return at ? at + sizeof begin - 1 : NULL;
}

/* ---- how two differ ---- */

enum { SAID = 256, WORD = 96 };

/* Which words of an item's value are given by which options; all other items have the names of
 * their options. */
static const struct {
    const char *key;
    unsigned first;
    const char *option[2];
} items[] = {{"store", 0, {"the store of identity"}},
             {"size", 0, {"--batch"}},
             {"warm-up", 0, {"--warmup"}},
             {"total", 0, {"--epochs"}},
             {"step", 0, {"--step-epochs", "--step-factor"}},
             {"dropout", 0, {"--dropout", "--dropout-input"}},
             {"metric", 0, {"--metric", "--class-weights"}},
             {"full", 1, {"--full-batch"}}, /* batches */
             {"messages", 0, {"--message-dtype"}},
             {"evaluated", 1, {"--eval-every"}}, /* every N epochs */
             {"labor", 1, {"--labor"}},          /* JSON */
             {"time", 0, {"--time-rule"}},
             {"seed_balance", 1, {"--seed-balance"}},
             {"kind", 0, {"--model"}},
             {"width", 0, {"--hidden"}}};

static bool is_key(const char *item, const char *key)
{
    const size_t n = key_length(item);
    return strlen(key) == n && !strncmp(item, key, n);
}

/* The words of an item's value; numbers with as few digits as tell them, and epochs where the text
 * has steps. */
static void split_value(const struct gnn_trainer *t, const char *item, char word[3][WORD])
{
    static const char weights[] = "with class weights ";
    const uint64_t steps = t->meta->sampling.steps[0];
    const char *at = item + key_length(item), *end = item + item_length(item);
    for (unsigned i = 0; i < 3; i++) {
        at += strspn(at, " ");
        if (!strncmp(at, weights, sizeof weights - 1))
            at += sizeof weights - 1;
        const size_t n = at < end ? strcspn(at, " ") : 0, capacity = (size_t)(end - at);
        snprintf(word[i], WORD, "%.*s", at < end ? (int)(n < capacity ? n : capacity) : 0, at);
        at = at < end ? at + n : end;
        char *rest;
        double x = strtod(word[i], &rest);
        const bool counts = is_key(item, "total") || is_key(item, "warm-up");
        if (counts && steps)
            x /= (double)steps;
        if (*word[i] && !*rest && (counts || strchr(word[i], '.')))
            snprintf(word[i], WORD, "%.9g", x);
    }
}

/* "--split train --eval valid" of "sets train 120,valid 40" */
static const char *say_sets(const char *item, char text[SAID])
{
    const char *at = item + key_length(item), *end = item + item_length(item);
    size_t n = 0;
    *text = 0;
    for (int i = 0; at < end && n < SAID; i++) {
        at += strspn(at, " ,");
        n += (size_t)snprintf(text + n, SAID - n, "%s%.*s", i ? " --eval " : "--split ",
                              (int)strcspn(at, " "), at);
        at += strcspn(at, ",");
    }
    return text;
}

/* The fan-outs of type number i, in each of so many hops: "3,2". */
static void list_fanouts(const char *item, uint32_t types, uint32_t i, uint32_t hops,
                         char text[SAID])
{
    const char *at = item + key_length(item) + 1;
    size_t n = 0;
    for (uint32_t k = 0; k < hops * types && n < SAID; k++) {
        char *end;
        const long long fanout = strtoll(at, &end, 10);
        if (k % types == i)
            n += (size_t)snprintf(text + n, SAID - n, "%s%lld", k / types ? "," : "", fanout);
        at = end + (*end == ',');
    }
}

/* "--fanout 3,3" of "fan-out 3,3", which has a number for each hop and edge type, or one option for
 * each type that has neighbours picked. Of subgraphs, the last hop is what lies within them. */
static const char *say_fanouts(const struct gnn_trainer *t, const char *item, char text[SAID])
{
    const struct gnn_schema *c = &t->meta->schema;
    const char *const end = item + item_length(item);
    uint32_t numbers = 1;
    for (const char *at = item; at < end; at++)
        numbers += *at == ',';
    const uint32_t types = c->netypes && numbers % c->netypes == 0 ? c->netypes : 1,
                   hops = numbers / types - (find_item(item, "induced") != NULL);
    char one[SAID], other[SAID];
    bool same = true;
    list_fanouts(item, types, 0, hops, one);
    for (uint32_t i = 1; i < types; i++) {
        list_fanouts(item, types, i, hops, other);
        same = same && !strcmp(one, other);
    }
    size_t n = same ? (size_t)snprintf(text, SAID, "--fanout %.*s", SAID - 10, one) : 0;
    for (uint32_t i = 0; i < types && !same && n < SAID; i++) {
        list_fanouts(item, types, i, hops, other);
        if (other[strspn(other, "0,")])
            n += (size_t)snprintf(text + n, SAID - n, "%s--fanout %s=%s", n ? " " : "",
                                  gnn_etype_key(c, i, one, sizeof one), other);
    }
    return text;
}

/* An item as the options that make it: "--batch 64" of "size 64". */
static const char *say_item(const struct gnn_trainer *t, const char *item, char text[SAID])
{
    char word[3][WORD];
    const int n = (int)key_length(item);
    if (is_key(item, "sets"))
        return say_sets(item, text);
    if (is_key(item, "fan-out"))
        return say_fanouts(t, item, text);
    split_value(t, item, word);
    const bool no = !strcmp(word[0], "0"), yes = !strcmp(word[0], "1");
    static const char *const flags[] = {"replace", "shuffle", "drop-last", "disjoint", "induced"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if ((no || yes) && is_key(item, flags[i])) {
            snprintf(text, SAID, "--%s%s", no ? "no-" : "", flags[i]);
            return text;
        }
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (is_key(item, items[i].key)) {
            const char *const *o = items[i].option, *first = word[items[i].first],
                              *second = word[items[i].first + 1];
            const bool two = o[1] && *second;
            snprintf(text, SAID, "%s%s%s%s%s%s%s", o[0], *first ? " " : "", first, two ? " " : "",
                     two ? o[1] : "", two ? " " : "", two ? second : "");
            return text;
        }
    snprintf(text, SAID, "--%.*s%s%s", n, item, *word[0] ? " " : "", word[0]);
    for (char *c = text; c < text + n + 2; c++)
        *c = *c == '_' || *c == ' ' ? '-' : *c;
    return text;
}

/* A member of a model's description in the form of an item. Of widths, the last is that of the
 * outputs. */
static char *member_item(const char *key, const json_t *v, struct gnn_err *e)
{
    const bool list = json_is_array(v);
    char *text = gnn_strf(e, "%s ", key);
    if (json_is_boolean(v) || !v)
        return text;
    if (json_is_string(v))
        return join_texts(text, gnn_strdup(json_string_value(v), e), e);
    for (size_t i = 0; list && i + 1 < json_array_size(v); i++)
        text = join_texts(text,
                          gnn_strf(e, "%s%lld", i ? "," : "",
                                   (long long)json_integer_value(json_array_get(v, i))),
                          e);
    if (json_array_size(v) == 1)
        return join_texts(text, gnn_strdup("0", e), e);
    return list ? text : join_texts(text, gnn_json_text(v, JSON_ENCODE_ANY, e), e);
}

/* "with A, and here with B", where one of the two may be missing. */
static void fail_differs(const char *path, const char *a, const char *b, struct gnn_err *e)
{
    if (a && b)
        gnn_fail(e, GNN_E_INPUT, "%s: the checkpoint was made with %s, and this run has %s", path,
                 a, b);
    else if (a)
        gnn_fail(e, GNN_E_INPUT, "%s: the checkpoint was made with %s, and this run without", path,
                 a);
    else if (b)
        gnn_fail(e, GNN_E_INPUT, "%s: the checkpoint was made without %s, which this run has", path,
                 b);
}

/* A member of a model's description as an option, or NULL where the option is not given. A flag
 * that is set by default is only there if it is not. */
static const char *say_member(const struct gnn_trainer *t, const char *key, const json_t *v,
                              const json_t *other, char text[SAID])
{
    struct gnn_err e = {0};
    const bool no = json_is_false(v) && !other;
    char *name = no ? gnn_strf(&e, "no_%s", key) : NULL,
         *item = v && (no || !json_is_false(v)) ? member_item(no ? name : key, v, &e) : NULL;
    const char *said = item ? say_item(t, item, text) : NULL;
    gnn_free(name);
    gnn_free(item);
    return said;
}

/* Says which member of the model's description differs. */
static void fail_member(const struct gnn_trainer *t, const char *path, const char *key,
                        const json_t *x, const json_t *y, struct gnn_err *e)
{
    char said[2][SAID];
    const char *one = say_member(t, key, x, y, said[0]), *two = say_member(t, key, y, x, said[1]);
    if (!one || !two || strcmp(one, two) != 0) /* widths may differ in the outputs, by a head */
        fail_differs(path, one, two, e);
}

/* Two models: an option that makes one member, or a place in their types of nodes and edges. */
static void model_differs(const struct gnn_trainer *t, const char *path, const char *a,
                          const char *b, struct gnn_err *e)
{
    struct gnn_err none = {0};
    json_t *x = gnn_json_parse(a, strlen(a), "model", &none),
           *y = x ? gnn_json_parse(b, strlen(b), "model", &none) : NULL, *v;
    const char *key;
    json_object_foreach(x, key, v) if (y && !e->code && !json_equal(v, json_object_get(y, key)) &&
                                       !json_is_object(json_array_get(v, 0)) &&
                                       !json_is_array(json_array_get(v, 0)))
        fail_member(t, path, key, v, json_object_get(y, key), e);
    json_object_foreach(y, key, v) if (!e->code && !json_object_get(x, key))
        fail_member(t, path, key, NULL, v, e);
    char *text = y && !e->code ? gnn_json_difference(x, y, &none) : NULL;
    if (text)
        gnn_fail(e, GNN_E_INPUT, "%s: the checkpoint is of another model: %s", path, text);
    gnn_free(text);
    json_decref(x);
    json_decref(y);
}

/* How batches are made: what follows from this differs, too, but no option says it. */
static void kind_differs(const struct gnn_trainer *t, const char *path, const char *a,
                         const char *b, struct gnn_err *e)
{
    static const char *const kinds[] = {"clusters", "induced"};
    const bool full_a = strstr(a, "full batches, "), full_b = strstr(b, "full batches, ");
    if (full_a != full_b)
        fail_differs(path, full_a ? "--full-batch" : NULL, full_b ? "--full-batch" : NULL, e);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !e->code; i++) {
        char said[2][SAID];
        const char *x = find_item(a, kinds[i]), *y = find_item(b, kinds[i]);
        const char *one = x ? say_item(t, x, said[0]) : NULL,
                   *two = y ? say_item(t, y, said[1]) : NULL;
        if (!one || !two || strcmp(one, two) != 0)
            fail_differs(path, one, two, e);
    }
}

int gnn_train_run_differs(const struct gnn_trainer *t, const char *path, const char *a,
                          const char *b, struct gnn_err *e)
{
    char said[2][SAID];
    size_t same = 0, at = 0;
    while (a[same] && a[same] == b[same])
        same++;
    for (size_t n; n = at + item_length(a + at), n + 1 < same; at = n + 1 + strspn(a + n + 1, " "))
        ;
    const char *x = find_model(a), *y = find_model(b);
    kind_differs(t, path, a, b, e);
    if (!e->code && x && y && a + same >= x)
        model_differs(t, path, x, y, e);
    if (e->code)
        return e->code;
    a += at;
    b += at;
    const char *one = say_item(t, a, said[0]), *two = say_item(t, b, said[1]);
    /* Where one of two has an item more, those at the same place have nothing in common. */
    if (!find_item(a, b) && find_item(b, a))
        fail_differs(path, NULL, two, e);
    else if (!find_item(b, a) && find_item(a, b))
        fail_differs(path, one, NULL, e);
    else if (is_key(a, "total") && is_key(b, "total"))
        gnn_fail(
            e, GNN_E_INPUT,
            "%s: the checkpoint was made with %s, and this run has %s: with --schedule cosine, "
            "the number of epochs cannot change",
            path, one, two);
    else if (strcmp(one, two) != 0)
        fail_differs(path, one, two, e);
    else /* the same sets, of other sizes */
        gnn_fail(e, GNN_E_INPUT, "%s: the checkpoint was made with '%.*s', and this run has '%.*s'",
                 path, (int)item_length(a), a, (int)item_length(b), b);
    return e->code;
}
