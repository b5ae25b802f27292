#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# sysroot.sh MACHINE ARCHITECTURE TRIPLE FOLDER : creates in FOLDER/lib the libraries that the tests of byre need for a
# machine with a cross compiler, and a cross file that contains the name of the folder. Boost comes from the packages of
# Debian for ARCHITECTURE, or, if Debian has no such architecture, is compiled from the sources of Debian. GoogleTest is
# compiled from its sources. The script needs no root, and changes nothing outside FOLDER, which also contains the
# package lists of apt for the architecture.
set -euo pipefail
machine=$1 architecture=$2 triple=$3 folder=$(realpath -m "$4")
here=$(dirname "$(realpath "$0")")

mkdir -p "$folder"/{lib,lists/partial,cache/archives/partial,unpacked}
printf "[constants]\nlibraries = '%s'\n" "$folder/lib" >"$folder/libraries.ini"
cd "$folder"
: >status
apt_here() {
  local what=$1
  shift
  "$what" -qq -o "Dir::State::lists=$folder/lists" -o "Dir::State::status=$folder/status" \
    -o "Dir::Cache=$folder/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}
apt_there() {
  apt_here apt-get -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" "$@"
}

# The two packages of Boost below, and the packages of Boost that they depend on.
packages_of_libraries() {
  apt_there --no-install-recommends --simulate install \
    {libboost-atomic-dev,libboost-thread-dev}":$architecture" |
    sed -n 's/^Inst \(libboost-[^ :]*[0-9][^ :]*\).*/\1/p' | sort -u
}

# unpack PACKAGE...
unpack() {
  local package
  cd unpacked
  apt_there download "$@"
  for package in *.deb; do
    dpkg-deb -x "$package" .
  done
  cp -a usr/lib/*/libboost_* "$folder/lib/"
  cd ..
}

# fetch_source HEADER : the Debian source of the package that contains HEADER on this machine.
fetch_source() {
  local source package
  mkdir -p sources
  for source in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [[ ! -f $source ]] ||
      sed -e 's/^deb /deb-src /' -e 's/^Types: deb$/Types: deb-src/' "$source" >"sources/${source##*/}"
  done
  package=$(dpkg-query -S "$1")
  package=$(dpkg-query -W -f '${source:Package}=${source:Version}' "${package%%:*}")
  local options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/sources")
  apt_here apt-get "${options[@]}" update || true
  (cd unpacked && apt_here apt-get "${options[@]}" --download-only --only-source source "$package")
}

# Compiles Boost as the wrap of the project does, with the headers of this machine.
compile_boost() {
  local package
  fetch_source /usr/include/boost/version.hpp
  cd unpacked
  tar xf ./boost*.orig.tar.* --strip-components=1 --wildcards '*/libs/*/src'
  cp "$here/../../subprojects/packagefiles/boost/meson.build" .
  meson setup build --buildtype release --cross-file "$here/$machine.ini" \
    --cross-file "$here/debian.ini" --cross-file "$folder/libraries.ini"
  ninja -C build
  # The archives of Meson only refer to object files, so new archives are packed from these files.
  for package in build/libboost_*.a; do
    "$triple-ar" rcs "$folder/lib/${package##*/}" "$package.p"/*.o
  done
  cd ..
}

# Some package sources of this machine may lack the architecture.
apt_there update || true
packages=$(packages_of_libraries) || packages=
if [[ -n $packages ]]; then
  # shellcheck disable=SC2086  # a list
  unpack $packages
else
  echo "sysroot.sh: no packages of Boost for $architecture found, compiling Boost"
  compile_boost
fi
rm -rf unpacked cache lists sources

for part in gtest-all gtest_main; do
  "$triple-g++" -std=c++17 -O1 -I/usr/src/googletest/googletest -c "/usr/src/googletest/googletest/src/$part.cc"
done
"$triple-ar" rcs lib/libgtest.a gtest-all.o
"$triple-ar" rcs lib/libgtest_main.a gtest_main.o
touch complete
