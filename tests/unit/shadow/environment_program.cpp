// SPDX-License-Identifier: BSL-1.0
/// Executes the commands in its arguments one after the other, and exits normally:
///   mode            prints the mode of reshape in force, or the error
///   tracks          prints whether that mode tracks, and "active" if active_tracking is above 0
///   default MODE    sets the process's default; an unknown name removes the default
///   scope MODE, end begins and ends a scope
///   set NAME VALUE  sets a variable of the environment
///   reshape         makes a tracked reshape, and prints the error if there is one
///   violate         causes a violation at lines 10, 11 and 12 of src/program.cpp
///   late            causes that violation while statics are destroyed
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace {

using namespace byre;
using namespace byre::shadow;

void violate(const Tensor& x) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  Tensor y = x.reshape({6}, {"src/program.cpp", 10});
  fill_(y, 7, {"src/program.cpp", 11});
  static_cast<void>(x.at<float>({0, 0}, {"src/program.cpp", 12}));
}

struct Late {
  ~Late() {
    if (is_requested) {
      violate(Tensor::zeros({2, 3}, DType::f32));
    }
  }
  bool is_requested = false;
};

Late late;

std::string run_command(const std::string& command) {
  try {
    if (command == "mode") {
      return std::string(name_of(reshape_mode()));
    }
    const ReshapeModeScope scope(ReshapeMode::warn);
    static_cast<void>(Tensor::zeros({6}, DType::f32).reshape({2, 3}));
    return "reshaped";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

int main(int, char** argv) {
  std::optional<ReshapeModeScope> scope;
  while (*++argv != nullptr) {
    const std::string command = *argv;
    if (command == "tracks") {
      std::puts(shadow::detail::is_tracking() ? "tracks" : "does not track");
      std::puts(shadow::detail::active_tracking.value() == 0 ? "inactive" : "active");
    } else if (command == "default") {
      set_default_reshape_mode(mode_named(*++argv));
    } else if (command == "scope") {
      scope.emplace(*mode_named(*++argv));
    } else if (command == "end") {
      scope.reset();
    } else if (command == "set") {
      ::setenv(argv[1], argv[2], 1);
      argv += 2;
    } else if (command == "violate") {
      violate(Tensor::zeros({2, 3}, DType::f32));
    } else if (command == "late") {
      late.is_requested = true;
    } else {
      std::puts(run_command(command).c_str());
    }
  }
}
