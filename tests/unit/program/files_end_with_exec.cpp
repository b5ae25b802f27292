// SPDX-License-Identifier: BSL-1.0
// Every file that the libraries open has the close-on-exec flag, and none gets the number of a
// closed standard stream. The program replaces close() and fclose(), and checks each file when it
// is closed.
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

#include "support/features.hpp"
#include "support/temporary_folder.hpp"

namespace {

constinit int closed = 0;
constinit int wrong_files = 0;
constinit int report = -1;

bool is_open(int file) {
  return ::fcntl(file, F_GETFD) >= 0;
}

void check(int file) {
  if (file < 3) {
    return;  // a standard stream, or a number that Descriptor replaces
  }
  ++closed;
  const bool is_right =
      (::fcntl(file, F_GETFD) & FD_CLOEXEC) != 0 && !is_open(0) && !is_open(1) && !is_open(2);
  wrong_files += is_right ? 0 : 1;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The number of files that `act` closes; -1 if a file survives exec or has the number of a
/// standard stream.
template <class Act>
int closed_by(const Act& act) {
  closed = wrong_files = 0;
  act();
  return wrong_files == 0 ? closed : -1;
}

bool is_wrong = false;

void expect(int least, const char* what, int found) {
  if (found < least) {
    is_wrong = true;
    ::dprintf(report,
              "%s: closed %d files, expected at least %d; -1: a file survives exec or is a "
              "standard stream\n",
              what, found, least);
  }
}

}  // namespace

extern "C" int close(int file) {
  check(file);
  return next<int(int)>("close")(file);
}
extern "C" int fclose(std::FILE* file) {
  check(::fileno(file));
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
  if (test::uses("linux")) {  // reads the limits of control groups
    expect(1, "usable_memory_nbytes", closed_by([] { static_cast<void>(usable_memory_nbytes()); }));
  }
  return is_wrong ? 1 : 0;
}
