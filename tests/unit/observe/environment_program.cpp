// SPDX-License-Identifier: BSL-1.0
// The program that environment_test.py runs with BYRE_TRACE. Usage: environment_program
// [nothing|fork|leave|many|unset|folder], or environment_program set NAME
#include <byre/byre.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace {

void clone_and_write() {
  byre::Buffer weights = byre::Buffer::allocate(100);
  const byre::Buffer snapshot = weights.lazy_clone({"program.cpp", 1});
  weights.mutable_data(byre::Wait::allowed, {"program.cpp", 2});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "nothing") {
    return 0;
  }
  clone_and_write();
  if (what == "fork" || what == "leave") {
    const pid_t child = ::fork();
    clone_and_write();
    int status = 0;
    if (child != 0 && ::waitpid(child, &status, 0) != child) {
      return 1;
    }
    if (child != 0 && what == "leave") {
      ::_exit(status != 0);  // writes no trace
    }
    return status != 0;
  }
  if (what == "unset") {
    return ::unsetenv("BYRE_TRACE");
  }
  if (what == "folder") {
    return ::chdir("/");
  }
  if (what == "set") {
    return ::setenv("BYRE_TRACE", argv[2], 1);
  }
  for (int round = 0; what == "many" && round < 120'000; ++round) {
    clone_and_write();
  }
  return 0;
}
