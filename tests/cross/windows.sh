#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# windows.sh FOLDER : creates in FOLDER what the tests of byre need for Windows: GoogleTest, headers, a folder of Wine
# with the libraries of the compiler, a script that runs programs, and a cross file that contains the name of the folder.
set -euo pipefail
folder=$(realpath -m "$1")
compiler=x86_64-w64-mingw32-g++-posix

mkdir -p "$folder"/{lib,include,prefix}
printf "[constants]\nfolder = '%s'\n" "$folder" >"$folder/folder.ini"
for header in gtest nlohmann; do
  ln -sfn "/usr/include/$header" "$folder/include/$header"
done

for part in gtest-all gtest_main; do
  "$compiler" -std=c++17 -O1 -isystem "$folder/include" -I/usr/src/googletest/googletest -c \
    "/usr/src/googletest/googletest/src/$part.cc" -o "$folder/$part.o"
done
x86_64-w64-mingw32-gcc-ar-posix rcs "$folder/lib/libgtest.a" "$folder/gtest-all.o"
x86_64-w64-mingw32-gcc-ar-posix rcs "$folder/lib/libgtest_main.a" "$folder/gtest_main.o"

wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
cat >"$folder/wine" <<END
#!/bin/sh
export WINEPREFIX='$folder/prefix' WINEDEBUG=-all
exec '$wine' "\$@"
END
chmod +x "$folder/wine"
"$folder/wine" wineboot --init >"$folder/wineboot.log" 2>&1
for library in libstdc++-6.dll libgcc_s_seh-1.dll libwinpthread-1.dll; do
  cp "$(realpath "$("$compiler" -print-file-name=$library)")" "$folder/prefix/drive_c/windows/system32/"
done
touch "$folder/complete"
