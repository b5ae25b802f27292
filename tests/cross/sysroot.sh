#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# sysroot.sh ARCHITECTURE TRIPLE FOLDER : into FOLDER/lib, the libraries that byre's tests need of a machine for
# which there is a cross compiler: Boost's from Debian's packages for that ARCHITECTURE, and GoogleTest's from
# its sources. Needs no root: apt's lists of that architecture are kept in FOLDER, not in the system.
# Where Debian has no such architecture, Boost's parts are compiled from Debian's sources.
set -euo pipefail
architecture=$1 triple=$2 folder=$(realpath -m "$3")
wanted=(libboost-atomic-dev libboost-thread-dev libboost-program-options-dev)

mkdir -p "$folder"/{lib,lists/partial,cache/archives/partial,unpacked}
cd "$folder"
: >status
options=(-qq -o "Dir::State::lists=$folder/lists" -o "Dir::State::status=$folder/status"
  -o "Dir::Cache=$folder/cache" -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
  -o Acquire::Languages=none -o APT::Sandbox::User=root)

# Packages of Boost that WANTED are made of, as apt names them.
packages_of_boost() {
  apt-get "${options[@]}" --no-install-recommends --simulate install "${wanted[@]/%/:$architecture}" |
    sed -n 's/^Inst \(libboost-[^ :]*[0-9][^ :]*\).*/\1/p' | sort -u
}

# Other sources of packages may lack this architecture.
apt-get "${options[@]}" update || true
if packages=$(packages_of_boost) && [[ -n $packages ]]; then
  cd unpacked
  # shellcheck disable=SC2086  # a list
  apt-get "${options[@]}" download ${packages//$'\n'/ }
  for package in *.deb; do
    dpkg-deb -x "$package" .
  done
  cp -a usr/lib/*/libboost_* "$folder/lib/"
else
  echo "sysroot.sh: Debian has no $architecture here: compiling Boost"
  "$here/boost_from_source.sh" "$triple" "$folder"
fi
cd "$folder"
rm -rf unpacked cache lists

for part in gtest-all gtest_main; do
  "$triple-g++" -std=c++17 -O1 -I/usr/src/googletest/googletest -c "/usr/src/googletest/googletest/src/$part.cc"
done
"$triple-ar" rcs lib/libgtest.a gtest-all.o
"$triple-ar" rcs lib/libgtest_main.a gtest_main.o
touch complete
