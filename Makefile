# SPDX-License-Identifier: GPL-3.0-or-later
#
# The build of storebench, for GNU make. On a fresh clone `make` runs autoconf and configure by
# itself; `make help` lists the targets. It works in the source folder and in any other one:
#     mkdir b && cd b && ../configure && make
# What depends on the machine is in config.mk, which configure writes. No list of files is kept
# here: a source belongs to what its folder says.

.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.PHONY: all tests check check-fast check-long bench-smoke fidelity interleave install uninstall dist
.PHONY: distcheck readme-figures lint clean distclean help prune FORCE

ifneq ($(words $(CURDIR)),1)
$(error storebench cannot be built in a folder whose path has spaces: $(CURDIR))
endif
srcdir := $(patsubst %/,%,$(dir $(realpath $(firstword $(MAKEFILE_LIST)))))

all:

# ---- configuration ---------------------------------------------------------------------------

ifneq ($(filter-out help clean distclean,$(or $(MAKECMDGOALS),all)),)
include config.mk
endif

$(srcdir)/configure: $(srcdir)/configure.ac $(srcdir)/scripts/build/driver.m4
	@command -v autoconf >/dev/null || { echo 'storebench: autoconf is needed to make' \
	    './configure; on Debian: apt-get install autoconf' >&2; exit 1; }
	cd $(srcdir) && autoconf

# Options of an earlier configure are kept; those of the first one come from CONFIGURE_FLAGS.
config.status: $(srcdir)/configure
	$(if $(wildcard config.status),./config.status --recheck,$(srcdir)/configure $(CONFIGURE_FLAGS))

config.mk: $(srcdir)/scripts/build/config.mk.in config.status
	./config.status config.mk

man1dir = $(mandir)/man1
pkglibdir = $(libdir)/storebench
pkgdatadir = $(datadir)/storebench
driversdir = $(pkglibdir)/drivers

# ---- flags -----------------------------------------------------------------------------------

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Wvla \
    -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -Wcast-qual $(WERROR)
CODE_FLAGS = -std=gnu11 -D_GNU_SOURCE -fno-omit-frame-pointer -pthread $(CPPFLAGS) $(CFLAGS)
INCLUDES = -I$(srcdir)/drivers -I$(srcdir)/src -Iobj
HARNESS_FLAGS = $(INCLUDES) $(JANSSON_CFLAGS) $(if $(STATIC_DRIVERS),-DSB_STATIC_DRIVERS)
HARNESS_LIBS = $(if $(STATIC_DRIVERS),$(foreach d,$(BUILT),$(LIBS_$d))) $(JANSSON_LIBS) -lm -ldl \
    $(LIBS)
PATH_FLAGS = -DSB_BUILD_DRIVERS_DIR='"$(CURDIR)/drivers"' \
    -DSB_INSTALLED_DRIVERS_DIR='"$(driversdir)"' \
    -DSB_SOURCE_WORKLOADS_DIR='"$(srcdir)/workloads"' \
    -DSB_INSTALLED_WORKLOADS_DIR='"$(pkgdatadir)/workloads"'

# PART_FLAGS is set per object, below. No path of this machine is left in the objects, so that the
# same sources give the same module, whose hash is in every result. With sanitizers a module has
# undefined symbols, since clang keeps their run-time in the program.
COMPILE = $(CC) $(CODE_FLAGS) $(SANITIZE_FLAGS) $(WARNINGS) $(PART_FLAGS) \
    -ffile-prefix-map=$(srcdir)=. -ffile-prefix-map=$(CURDIR)=. -MMD -MP -c
LINK = $(CC) $(CODE_FLAGS) $(SANITIZE_FLAGS) $(LDFLAGS)
LINK_MODULE = $(LINK) -shared $(if $(SANITIZE_FLAGS),,-Wl,-z,defs)

ifneq ($(V),1)
quiet = @printf '  %-6s %s\n' $(1) $@;
endif

# ---- what there is to build ------------------------------------------------------------------

# A driver is drivers/NAME.c, or all of drivers/NAME/.
sources = $(patsubst $(srcdir)/%,%,$(sort $(wildcard $(addprefix $(srcdir)/,$(1)))))
objects = $(patsubst %.c,obj/%.o,$(1))
driver_objects = $(call objects,$(call sources,drivers/$(1).c drivers/$(1)/*.c))

BUILT := $(foreach d,$(DRIVERS),$(if $(call driver_objects,$d),$d))
DRIVER_OBJECTS := $(foreach d,$(BUILT),$(call driver_objects,$d))
HARNESS_OBJECTS := $(call objects,$(call sources,src/*.c))
LIBRARY_OBJECTS := $(filter-out obj/src/main.o,$(HARNESS_OBJECTS)) \
    $(if $(STATIC_DRIVERS),obj/drivers_static.o $(DRIVER_OBJECTS))
PRELOAD_OBJECTS := $(call objects,$(call sources,drivers/preload/*.c))

MODULES := $(if $(STATIC_DRIVERS),,$(BUILT:%=drivers/storebench-%.so))
PRELOADS := $(PRELOAD_OBJECTS:obj/drivers/preload/%.o=drivers/storebench-preload-%.so)

UNIT_OBJECTS := $(call objects,$(call sources,tests/unit/*.c))
UNIT_TESTS := $(patsubst %.o,%,$(filter obj/tests/unit/test_%.o,$(UNIT_OBJECTS)))
CONFORMANCE_OBJECTS := $(call objects,$(call sources,tests/conformance/*.c))
CONFORMANCE := $(if $(CONFORMANCE_OBJECTS),obj/tests/conformance/conformance)
TEST_DRIVER_OBJECTS := $(call objects,$(call sources,tests/drivers/*.c drivers/skeleton.c))
TEST_DRIVERS := $(patsubst %.o,obj/tests/drivers/storebench-%.so,$(notdir $(TEST_DRIVER_OBJECTS)))
FIDELITY := $(filter $(BUILT:%=obj/tests/fidelity/%), \
    $(patsubst %.c,obj/%,$(call sources,tests/fidelity/*.c)))

all: storebench $(MODULES) $(PRELOADS) prune

# A driver that is no longer configured must not be found by the program.
prune:
	@rm -f $(filter-out $(MODULES) $(PRELOADS) $(TEST_DRIVERS), \
	    $(wildcard drivers/storebench-*.so obj/tests/drivers/storebench-*.so))

# ---- generated files -------------------------------------------------------------------------

# Written only when their contents change, so that what depends on them is rebuilt only then.
replace_if_changed = if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
quoted = '$(subst ','\'',$(strip $(1)))'

# All flags: each object depends on it.
obj/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call quoted,$(CC) $(CODE_FLAGS) $(SANITIZE_FLAGS) $(WARNINGS) \
	    $(HARNESS_FLAGS) $(PATH_FLAGS) $(LDFLAGS) $(HARNESS_LIBS) $(CMOCKA_CFLAGS) $(CMOCKA_LIBS) \
	    $(foreach d,$(BUILT),$(CFLAGS_$d) $(LIBS_$d))) >$@.new
	@$(replace_if_changed)

# The objects of the library, so that a removed source leaves it.
obj/parts: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(LIBRARY_OBJECTS) >$@.new
	@$(replace_if_changed)

obj/buildinfo.h: FORCE
	@mkdir -p $(@D)
	@sh $(srcdir)/scripts/build/buildinfo $(srcdir) $(call quoted,$(VERSION)) \
	    $(call quoted,$(COMPILER)) $(call quoted,$(CODE_FLAGS) $(SANITIZE_FLAGS)) >$@.new
	@$(replace_if_changed)

# The machine code of the measured loop and of what it calls in our own program. Results carry it:
# two that differ in it were not measured by the same harness.
obj/loop_hash: obj/src/loop.o obj/src/data.o
	@for o in $^; do objcopy -g $$o $@.o && cat $@.o; done | sha256sum | cut -c1-16 >$@.new
	@rm -f $@.o
	@$(replace_if_changed)

# The drivers of a static build.
obj/drivers_static.c: FORCE
	@mkdir -p $(@D)
	@{ echo '#include "driver.h"'; \
	for d in $(subst -,_,$(BUILT)); do \
	    echo "extern const struct sb_module storebench_module_$$d;"; done; \
	echo 'extern const struct sb_module *const sb_static_modules[];'; \
	echo 'const struct sb_module *const sb_static_modules[] = {'; \
	for d in $(subst -,_,$(BUILT)); do echo "    &storebench_module_$$d,"; done; \
	echo '    NULL,'; echo '};'; } >$@.new
	@$(replace_if_changed)

# ---- rules -----------------------------------------------------------------------------------

obj/%.o: $(srcdir)/%.c obj/flags | obj/buildinfo.h
	@mkdir -p $(@D)
	$(call quiet,CC)$(COMPILE) -o $@ $<

obj/drivers_static.o: obj/drivers_static.c obj/flags
	$(call quiet,CC)$(COMPILE) -o $@ $<

$(HARNESS_OBJECTS) obj/drivers_static.o: private PART_FLAGS = $(HARNESS_FLAGS)
obj/src/paths.o: private PART_FLAGS = $(HARNESS_FLAGS) $(PATH_FLAGS)
obj/src/result.o: obj/loop_hash
obj/src/result.o: private PART_FLAGS = $(HARNESS_FLAGS) \
    -DSB_LOOP_HASH='"$(shell cat obj/loop_hash)"'

obj/libstorebench.a: $(LIBRARY_OBJECTS) obj/parts
	$(call quiet,AR)rm -f $@ && $(AR) rcs $@ $(LIBRARY_OBJECTS)

storebench: obj/src/main.o obj/libstorebench.a
	$(call quiet,LINK)$(LINK) -o $@ $^ $(HARNESS_LIBS)

define driver_rules
$(call driver_objects,$(1)): private PART_FLAGS = -I$(srcdir)/drivers $(CFLAGS_$(1)) \
    -fPIC -fvisibility=hidden $(if $(STATIC_DRIVERS),-DSB_STATIC_MODULE=$(subst -,_,$(1)))

drivers/storebench-$(1).so: $(call driver_objects,$(1))
	@mkdir -p $$(@D)
	$$(call quiet,LINK)$$(LINK_MODULE) -o $$@ $$^ $(LIBS_$(1))
endef
$(foreach d,$(BUILT),$(eval $(call driver_rules,$d)))

# Preload libraries replace functions of libc in the whole process: no sanitizer belongs there.
$(PRELOAD_OBJECTS): private PART_FLAGS = -fPIC
$(PRELOAD_OBJECTS) $(PRELOADS): private SANITIZE_FLAGS =
$(PRELOADS): drivers/storebench-preload-%.so: obj/drivers/preload/%.o
	@mkdir -p $(@D)
	$(call quiet,LINK)$(LINK_MODULE) -o $@ $< -ldl

# ---- tests -----------------------------------------------------------------------------------

tests: all $(UNIT_TESTS) $(CONFORMANCE) $(TEST_DRIVERS)

$(UNIT_OBJECTS): private PART_FLAGS = $(HARNESS_FLAGS) $(CMOCKA_CFLAGS)
$(CONFORMANCE_OBJECTS): private PART_FLAGS = $(HARNESS_FLAGS)
$(TEST_DRIVER_OBJECTS): private PART_FLAGS = -I$(srcdir)/drivers -fPIC -fvisibility=hidden

# Files of tests/unit whose name does not begin with test_ are helpers of all tests.
$(UNIT_TESTS): %: %.o $(filter-out obj/tests/unit/test_%,$(UNIT_OBJECTS)) obj/libstorebench.a
	@test $(HAVE_CMOCKA) = yes || { echo 'storebench: the unit tests need cmocka; on Debian:' \
	    'apt-get install libcmocka-dev; then run configure again' >&2; exit 1; }
	$(call quiet,LINK)$(LINK) -o $@ $^ $(CMOCKA_LIBS) $(HARNESS_LIBS)

$(CONFORMANCE): $(CONFORMANCE_OBJECTS) obj/libstorebench.a
	$(call quiet,LINK)$(LINK) -o $@ $^ $(HARNESS_LIBS)

define test_driver_rule
obj/tests/drivers/storebench-$(basename $(notdir $(1))).so: $(1)
	@mkdir -p $$(@D)
	$$(call quiet,LINK)$$(LINK_MODULE) -o $$@ $$<
endef
$(foreach o,$(TEST_DRIVER_OBJECTS),$(eval $(call test_driver_rule,$o)))

check check-fast check-long:
	+@sh $(srcdir)/scripts/check $(patsubst check%,-%,$(filter-out check,$@)) $(CURDIR)

bench-smoke: all
	./storebench run $(srcdir)/workloads/smoke.json

# Our drivers against a plain loop on each library's own calls.
$(FIDELITY): obj/tests/fidelity/%: obj/tests/fidelity/%.o
	$(call quiet,LINK)$(LINK) -o $@ $< $(LIBS_$*) -lm -ldl
$(foreach d,$(BUILT),$(eval obj/tests/fidelity/$d.o: private PART_FLAGS = $(CFLAGS_$d)))

fidelity: all $(FIDELITY)
	STOREBENCH=$(CURDIR)/storebench STOREBENCH_SRCDIR=$(srcdir) \
	    $(srcdir)/tests/fidelity/run $(abspath $(FIDELITY))

# Two campaigns of the same build, block by block: they must not differ.
interleave: all
	STOREBENCH=$(CURDIR)/storebench $(srcdir)/tests/fidelity/interleave

# The README's figures are never typed: this puts those of a result file there.
readme-figures: all
	$(srcdir)/scripts/readme-figures $(CURDIR)/storebench $(RESULT)

LINT_SOURCES = $(addprefix $(srcdir)/,$(call sources,$(addsuffix /*.c,src drivers drivers/* \
    tests/unit tests/conformance tests/drivers tests/fidelity)))
lint: obj/buildinfo.h
	@echo 'clang-format:'
	@clang-format --dry-run -Werror $(LINT_SOURCES) \
	    $(wildcard $(foreach d,src drivers drivers/* tests/*,$(srcdir)/$d/*.h))
	@echo 'scripts/tidy:'
	@sh $(srcdir)/scripts/tidy $(srcdir)
	@echo 'clang-tidy (to be looked at, not judged):'
	@printf '%s\n' $(LINT_SOURCES) | xargs -P$$(nproc) -n4 sh -c \
	    'clang-tidy --quiet "$$@" -- -std=gnu11 -D_GNU_SOURCE $(subst ",\",$(subst ',,\
	    $(INCLUDES) $(PATH_FLAGS) -DSB_LOOP_HASH=""))' sh 2>&1 | grep -v 'warnings* generated' || :

# ---- installation ----------------------------------------------------------------------------

# Each group is copied to one folder; `uninstall` removes the same names from there.
GROUPS = program modules header workloads schema manual completion pkgconfig
program_files = storebench
program_dir = $(bindir)
modules_files = $(MODULES) $(PRELOADS)
modules_dir = $(driversdir)
header_files = $(srcdir)/drivers/driver.h
header_dir = $(includedir)/storebench
workloads_files = $(wildcard $(srcdir)/workloads/*.json)
workloads_dir = $(pkgdatadir)/workloads
schema_files = $(wildcard $(srcdir)/results/schema/*.json)
schema_dir = $(pkgdatadir)/schema
manual_files = $(wildcard $(srcdir)/docs/storebench.1)
manual_dir = $(man1dir)
completion_files = $(if $(wildcard $(srcdir)/scripts/storebench.bash-completion), \
    obj/completion/storebench)
completion_dir = $(datadir)/bash-completion/completions
pkgconfig_files = obj/storebench.pc
pkgconfig_dir = $(libdir)/pkgconfig

obj/completion/storebench: $(srcdir)/scripts/storebench.bash-completion
	@mkdir -p $(@D)
	cp $< $@

obj/storebench.pc: obj/flags
	@printf '%s\n' 'prefix=$(prefix)' 'includedir=$(includedir)' 'driversdir=$(driversdir)' '' \
	    'Name: storebench' 'Version: $(VERSION)' \
	    'Description: driver contract of the storage benchmark suite storebench' \
	    'Cflags: -I$${includedir}/storebench' >$@

define install_group
	install -d $(DESTDIR)$($(1)_dir)
	install -m $(if $(filter program modules,$(1)),755,644) $($(1)_files) $(DESTDIR)$($(1)_dir)

endef
install: all $(completion_files) $(pkgconfig_files)
	$(foreach g,$(GROUPS),$(if $(strip $($g_files)),$(call install_group,$g)))

define uninstall_group
	rm -f $(addprefix $(DESTDIR)$($(1)_dir)/,$(notdir $($(1)_files)))

endef
uninstall:
	$(foreach g,$(GROUPS),$(if $(strip $($g_files)),$(call uninstall_group,$g)))
	@rmdir $(addprefix $(DESTDIR),$(driversdir) $(pkglibdir) $(pkgdatadir)/workloads \
	    $(pkgdatadir)/schema $(pkgdatadir) $(includedir)/storebench) 2>/dev/null || :

# ---- releases --------------------------------------------------------------------------------

# The last commit, and configure: who builds from it needs no autoconf.
TARBALL = storebench-$(VERSION).tar.gz
dist: $(srcdir)/configure
	git -C $(srcdir) diff --quiet HEAD || echo 'note: uncommitted changes are not in it' >&2
	git -C $(srcdir) archive --format=tar --prefix=storebench-$(VERSION)/ \
	    --add-file=$(srcdir)/configure HEAD | gzip -n >$(TARBALL)

distcheck: dist
	+sh $(srcdir)/scripts/build/distcheck $(CURDIR)/$(TARBALL) $(CURDIR)/obj/distcheck

# ---- the rest --------------------------------------------------------------------------------

clean:
	rm -rf obj storebench drivers/storebench-*.so

# A clone gets its configure from autoconf; a released tarball brings it along and keeps it.
distclean: clean
	rm -rf config.mk config.status config.log storebench-*.tar.gz
	$(if $(wildcard .git),rm -rf configure configure~ autom4te.cache)
	$(if $(filter-out $(srcdir),$(CURDIR)),rm -f Makefile && (rmdir drivers 2>/dev/null || :))

help:
	@echo 'make               the program and all drivers whose library is there'
	@echo 'make check         the tests: ordinary build, sanitizers, minimal build with clang'
	@echo 'make check-fast    the tests in this build alone'
	@echo 'make check-long    check, and each library left out, clang, threads, valgrind'
	@echo 'make bench-smoke   a run of a few seconds of every driver'
	@echo 'make interleave    two campaigns of this build in turn: how often they seem to differ'
	@echo 'make fidelity      what a driver costs over plain calls of its library'
	@echo 'make readme-figures RESULT=FILE  the tables of a result into README.md'
	@echo 'make lint          clang-format, style test, clang-tidy'
	@echo 'make install       into prefix (configure --prefix=DIR); DESTDIR is put in front'
	@echo 'make uninstall     removes what install put there'
	@echo 'make dist          $(or $(VERSION),storebench) as a tarball; distcheck also tries it out'
	@echo 'make clean         removes what was built; distclean also what was configured'
	@echo 'V=1 shows the commands; CONFIGURE_FLAGS=... reaches the first configure'

DEPENDENCIES := $(patsubst %.o,%.d,$(HARNESS_OBJECTS) obj/drivers_static.o $(DRIVER_OBJECTS) \
    $(PRELOAD_OBJECTS) $(UNIT_OBJECTS) $(CONFORMANCE_OBJECTS) $(TEST_DRIVER_OBJECTS) \
    $(FIDELITY:=.o))
-include $(wildcard $(DEPENDENCIES))
