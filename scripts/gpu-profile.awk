# SPDX-License-Identifier: Apache-2.0
# What `ncu --csv --page raw --print-units base` says of launches, as rows of a table: each kernel's share of the time, its launches, and
# the bytes that it moves in device memory and in the L2 cache. limit: GB/s that a copy in device memory reaches.
BEGIN { FS = "\",\"" } # all fields are quoted, and names have commas
function value(name, v) {
    v = col[name] ? $col[name] : 0
    gsub(/[",]/, "", v)
    return v + 0
}
!units {
    if (head)
        units = 1
    else if (/"Kernel Name"/) {
        for (i = 1; i <= NF; i++) {
            gsub(/"/, "", $i)
            col[$i] = i
        }
        head = 1
    }
    next
}
NF > 4 {
    name = $col["Kernel Name"]
    sub(/^void /, "", name)
    sub(/\(.*/, "", name)
    name = substr(name, 1, 64)
    gsub(/\|/, "/", name)
    if (!n[name]++)
        order[++names] = name
    t = value("gpu__time_duration.sum")
    ns[name] += t
    dram[name] += value("dram__bytes.sum")
    l2[name] += value("lts__t_bytes.sum")
    warps[name] += t * value("sm__warps_active.avg.pct_of_peak_sustained_active")
    total += t
}
END {
    if (!total)
        exit 1
    for (i = 2; i <= names; i++) # few
        for (k = i; k > 1 && ns[order[k]] > ns[order[k - 1]]; k--) {
            name = order[k]
            order[k] = order[k - 1]
            order[k - 1] = name
        }
    print "| kernel | share of the time | us a launch | DRAM | of a copy | L2 | active warps |"
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i <= names && i <= 40; i++) {
        name = order[i]
        t = ns[name] ? ns[name] : 1 # bytes in a nanosecond are GB/s
        printf "| %s | %.1f %% | %.1f, %d times | %.1f MB, %.0f GB/s | %s | %.1f MB, %.0f GB/s | %.0f %% |\n", name, 100 * ns[name] / total, ns[name] / n[name] / 1e3, n[name],
            dram[name] / n[name] / 1e6, dram[name] / t, limit ? sprintf("%.0f %%", 100 * dram[name] / t / limit) : "", l2[name] / n[name] / 1e6, l2[name] / t, warps[name] / t
    }
}
