#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, runs all tests. The last line is the test runner's summary.
# usage: check.sh   (environment: GNN_DATA real graphs, TESTS a choice of tests, ALSO such of .ci/rare that run all the same)
set -eu
cd "$(dirname "$0")/.."
sh scripts/install-deps.sh
make -s -j"$(nproc)" WERROR=1 all unit
exec make -s WERROR=1 check ${TESTS:+TESTS="$TESTS"}
