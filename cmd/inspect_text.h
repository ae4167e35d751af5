/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of lib/inspect/inspect.h as text on stdout. */
#ifndef GNN_CMD_INSPECT_TEXT_H
#define GNN_CMD_INSPECT_TEXT_H

#include <jansson.h>

void inspect_text_report(const json_t *report);
void inspect_text_model(const json_t *report);
void inspect_text_proofs(const json_t *report);
void inspect_text_leaks(const json_t *report);
void inspect_text_diff(const json_t *difference);

#endif
