# SPDX-License-Identifier: Apache-2.0
# What is installed, and where.

D          = $(DESTDIR)$(PREFIX)
PACKAGE   := $(sort $(wildcard formats/python/gnntools/*.py)) formats/python/gnntools/py.typed
MAN1      := $(sort $(wildcard man/*.1))
MAN5      := $(sort $(wildcard man/*.5))
MAN7      := $(sort $(wildcard man/*.7))
COMPDIR    = $(D)/share/bash-completion/completions
write_pc = printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: $1' 'Version: $(VERSION)' \
    'Description: Sampling, gathering and training of graph neural networks' 'Cflags: -I$${includedir}' $2 >$(D)/lib/pkgconfig/$1.pc
install: all ## install under PREFIX (DESTDIR is put before it)
	install -d $(D)/bin $(D)/lib/pkgconfig $(D)/share/man/man1 $(D)/share/man/man5 $(D)/share/man/man7 $(COMPDIR)
	$(if $(PROGS),install -m 755 $(PROGS:%=$(B)/bin/%) $(D)/bin)
	install -m 644 $(B)/libgnn.a $(D)/lib
	install -m 755 $(B)/libgnn.so $(D)/lib/$(SONAME)
	ln -sfn $(SONAME) $(D)/lib/libgnn.so
	$(if $(MPI_SO),install -D -m 644 $(MPI_SO) $(D)/lib/gnn-tools/gnn-mpi.so)
	install -d $(D)/share/gnn-tools/slurm
	install -m 755 scripts/slurm/*.sbatch $(D)/share/gnn-tools/slurm
	install -d $(D)/share/gnn-tools/gnntools
	install -m 644 $(PACKAGE) $(D)/share/gnn-tools/gnntools
	sh scripts/install-headers.sh $(D)/include/gnn $(PUBLIC)
	$(call write_pc,gnn,'Libs: -L$${libdir} -lgnn')
	$(call write_pc,gnn-static,'Libs: -L$${libdir} -l:libgnn.a -lmetis -ldnnl -fopenmp -lm -lpthread $(CUDA_LIBS)' 'Requires: $(PKGS)')
	$(if $(MAN1),install -m 644 $(MAN1) $(D)/share/man/man1)
	$(if $(MAN5),install -m 644 $(MAN5) $(D)/share/man/man5)
	$(if $(MAN7),install -m 644 $(MAN7) $(D)/share/man/man7)
	for p in $(PROGS); do $(B)/bin/$$p --completion | sh scripts/completion.sh $$p >$(COMPDIR)/$$p || exit 1; done

uninstall: ## remove what install put under PREFIX
	rm -f $(PROGS:%=$(D)/bin/%) $(D)/lib/libgnn.a $(D)/lib/libgnn.so $(D)/lib/$(SONAME) \
	    $(D)/lib/pkgconfig/gnn.pc $(D)/lib/pkgconfig/gnn-static.pc $(PROGS:%=$(COMPDIR)/%)
	rm -f $(MAN1:man/%=$(D)/share/man/man1/%) $(MAN5:man/%=$(D)/share/man/man5/%) $(MAN7:man/%=$(D)/share/man/man7/%)
	rm -rf $(D)/include/gnn $(D)/lib/gnn-tools $(D)/share/gnn-tools

.PHONY: install uninstall
