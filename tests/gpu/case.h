/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of cases of check_kernels. */
#ifndef GNN_TESTS_GPU_CASE_H
#define GNN_TESTS_GPU_CASE_H

#define CASES(group)                                                                               \
    group(gather) group(edges) group(spmm) group(transpose) group(message) group(attention)        \
        group(heads) group(act) group(norm) group(rows) group(factors) group(loss) group(label)    \
            group(optim) group(sample) group(large) group(weighted) group(labor) group(trees)      \
                group(times) group(induce) group(capacity) group(damage)

#define CASE_OF(name) void case_##name(void);
CASES(CASE_OF)
#undef CASE_OF

#endif
