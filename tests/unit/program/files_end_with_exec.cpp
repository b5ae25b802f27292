// SPDX-License-Identifier: BSL-1.0
// Each file that the libraries open is closed where a process executes another program, and none becomes a
// standard stream of a program that started without these. Files are looked at where they are closed, which the
// program notices as it has close and fclose of its own.
#include <byre/byre.hpp>
#include <byre/interop/npy.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/memory/pages.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/shadow/suppression.hpp>
#include <byre/tensor.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "support/temporary_folder.hpp"

namespace {

constinit int closed = 0;
constinit int left_to_others = 0;
constinit int report = -1;

bool is_open(int file) {
  return ::fcntl(file, F_GETFD) >= 0;
}

void look_at(int file) {
  if (file < 3) {
    return;  // exchanged for another, or never closed as the library's
  }
  ++closed;
  const bool is_right =
      (::fcntl(file, F_GETFD) & FD_CLOEXEC) != 0 && !is_open(0) && !is_open(1) && !is_open(2);
  left_to_others += is_right ? 0 : 1;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// How many files `act` closes; -1 if one outlives exec or is a standard stream.
template <class Act>
int closed_by(const Act& act) {
  closed = left_to_others = 0;
  act();
  return left_to_others == 0 ? closed : -1;
}

bool is_wrong = false;

void expect(int least, const char* what, int found) {
  if (found < least) {
    is_wrong = true;
    ::dprintf(report,
              "%s: %d files were closed, at least %d were expected; -1 if one outlives exec or is "
              "a standard stream\n",
              what, found, least);
  }
}

}  // namespace

extern "C" int close(int file) {
  look_at(file);
  return next<int(int)>("close")(file);
}
extern "C" int fclose(std::FILE* file) {
  look_at(::fileno(file));
  return next<int(std::FILE*)>("fclose")(file);
}

int main() {
  using namespace byre;
  report = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::close(stream);
  }
  const test::TemporaryFolder folder;
  test::write_file(folder / "sites.txt", "a.cpp:1\n");
  const Tensor x = Tensor::of<float>({3}, {1, 2, 3});
  expect(1, "save_npy", closed_by([&] { save_npy(folder / "x.npy", x); }));
  expect(1, "load_npy", closed_by([&] { static_cast<void>(load_npy(folder / "x.npy")); }));
  expect(1, "save_safetensors", closed_by([&] {
           save_safetensors(folder / "x.safetensors", NamedTensors{{"x", x}});
         }));
  expect(1, "load_safetensors",
         closed_by([&] { static_cast<void>(load_safetensors(folder / "x.safetensors")); }));
  expect(1, "map_file", closed_by([&] { static_cast<void>(Buffer::map_file(folder / "x.npy")); }));
  expect(1, "suppress_sites", closed_by([&] { shadow::suppress_sites(folder / "sites.txt"); }));
  expect(1, "print_summary", closed_by([&] { shadow::print_summary(folder / "all.json"); }));
  expect(1, "usable_memory_nbytes", closed_by([] { static_cast<void>(usable_memory_nbytes()); }));
  return is_wrong ? 1 : 0;
}
