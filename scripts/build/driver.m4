# SPDX-License-Identifier: GPL-3.0-or-later
#
# driver.m4 -- how configure finds a driver's library. Included by configure.ac, so that plain
# autoconf is enough: no aclocal, no automake.

# SB_LIBRARY(PKG, HEADERS, SYMBOL, LIBS, [PREFIX])
# Looks for a library: in PREFIX when that shell variable names one, else as pkg-config says, else
# where the compiler looks by itself. It is found when HEADERS compile and SYMBOL links. Sets
# sb_found, sb_lib_cflags and sb_lib_libs. Headers in PREFIX are system headers (-isystem), like
# those in /usr/include: their warnings are not ours.
AC_DEFUN([SB_LIBRARY], [
AC_MSG_CHECKING([for $2[]m4_ifval([$4], [ and $4])])
sb_found=no
sb_prefix=m4_ifval([$5], [$$5])
sb_cppflags=$CPPFLAGS
sb_libs=$LIBS
for sb_way in prefix pkg-config plain; do
  case $sb_way in
  prefix)
    test -n "$sb_prefix" && test -e "$sb_prefix/include/$2" || continue
    m4_ifval([$4],
      [ls "$sb_prefix/lib/m4_bpatsubst([$4], [^-l], [lib])".* >/dev/null 2>&1 || continue])
    sb_lib_cflags="-isystem $sb_prefix/include"
    sb_lib_libs="m4_ifval([$4], [-L$sb_prefix/lib -Wl,-rpath,$sb_prefix/lib $4])" ;;
  pkg-config)
    test -z "$sb_prefix" && test -n "$PKG_CONFIG" && test -n "$1" || continue
    sb_lib_cflags=`$PKG_CONFIG --cflags $1 2>/dev/null` || continue
    sb_lib_libs=`$PKG_CONFIG --libs $1 2>/dev/null` || continue ;;
  plain)
    test -z "$sb_prefix" || continue
    sb_lib_cflags=
    sb_lib_libs="$4" ;;
  esac
  CPPFLAGS="$sb_cppflags $sb_lib_cflags"
  LIBS="$sb_lib_libs $sb_libs"
  AC_LINK_IFELSE([AC_LANG_PROGRAM(
      [m4_foreach_w([SB_HEADER], [$2], [@%:@include <SB_HEADER>
])],
      m4_ifval([$3], [[void *volatile symbol = (void *)$3; return !symbol;]], [[return 0;]]))],
    [sb_found=yes])
  test $sb_found = no || break
done
CPPFLAGS=$sb_cppflags
LIBS=$sb_libs
AC_MSG_RESULT([$sb_found])
])

# SB_DRIVER(NAME, [PKG], [HEADER], [SYMBOL], [LIBS], [DEBIAN-PACKAGE])
# One driver. Without HEADER it needs no library and is always built. With it, the user chooses by
# --with-NAME=auto|yes|no|PREFIX: `auto` builds it if the library is found, `yes` and PREFIX insist.
AC_DEFUN([SB_DRIVER], [
m4_define([SB_VAR], [with_]m4_translit([$1], [-], [_]))
m4_ifval([$3], [
AC_ARG_WITH([$1],
  [AS_HELP_STRING([--with-$1=HOW], [auto, yes, no, or the PREFIX of its library; Debian: $6])],
  [], [SB_VAR=auto])
SB_LIBRARY_DRIVERS="$SB_LIBRARY_DRIVERS $1"
sb_prefix_wanted=
case $SB_VAR in
auto|yes|no) ;;
/*) sb_prefix_wanted=$SB_VAR ;;
*) AC_MSG_ERROR([--with-$1 takes auto, yes, no or an absolute path, not '$SB_VAR']) ;;
esac
if test "$SB_VAR" = no; then
  DRIVERS_OFF="$DRIVERS_OFF $1"
  SB_ROW([$1], [no], [left out by --without-$1])
else
  SB_LIBRARY([$2], [$3], [$4], [$5], [sb_prefix_wanted])
  if test $sb_found = yes; then
    DRIVERS="$DRIVERS $1"
    DRIVER_FLAGS="${DRIVER_FLAGS}CFLAGS_$1 = $sb_lib_cflags
LIBS_$1 = $sb_lib_libs
"
    SB_ROW([$1], [yes], [with $3${sb_prefix_wanted:+ of $sb_prefix_wanted}m4_ifval([$5], [, $5])])
  elif test "$SB_VAR" = auto; then
    DRIVERS_MISSING="$DRIVERS_MISSING $1"
    SB_ROW([$1], [no], [$3[]m4_ifval([$5], [ or $5]) not found; Debian: $6])
  else
    AC_MSG_ERROR(
      [--with-$1=$SB_VAR: $3[]m4_ifval([$5], [ or $5]) not found; on Debian: apt-get install $6])
  fi
fi
], [
DRIVERS="$DRIVERS $1"
SB_ROW([$1], [yes], [needs no library])
])])

# SB_ROW(NAME, BUILT, WHY): a row of the closing table.
AC_DEFUN([SB_ROW], [
SB_TABLE="$SB_TABLE
`printf '  %-14s %-6s' '$1' '$2'` $3"
AC_SUBST([DRIVERS])
AC_SUBST([DRIVERS_MISSING])
AC_SUBST([DRIVERS_OFF])
AC_SUBST([SB_LIBRARY_DRIVERS])
AC_SUBST([DRIVER_FLAGS])
])

# SB_SUMMARY: prints the table of drivers.
AC_DEFUN([SB_SUMMARY], [
cat <<SB_END

$PACKAGE_NAME $PACKAGE_VERSION
  compiler   $COMPILER
  flags      $CFLAGS $SANITIZE_FLAGS $WERROR
  drivers    `test "$STATIC_DRIVERS" && echo compiled into the program || echo modules`
  prefix     $prefix

  driver         built  why$SB_TABLE

SB_END
])
