// SPDX-License-Identifier: BSL-1.0
/// Does what its arguments say, one after the other, and ends as programs do:
///   mode            prints the mode of reshape in force, or the complaint
///   tracks          prints whether that tracks, and whether anything in the process does
///   default MODE    makes it the process's default; no mode's name takes the default back
///   scope MODE, end begins and ends a scope
///   set NAME VALUE  in the environment
///   reshape         makes a tracked reshape, and prints what it throws
///   violate         at lines 10, 11 and 12 of src/program.cpp
///   late            the same where statics are destroyed
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
    if (is_asked) {
      violate(Tensor::zeros({2, 3}, DType::f32));
    }
  }
  bool is_asked = false;
};

Late late;

std::string answer_to(const std::string& command) {
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
      std::puts(shadow::detail::active_tracking.value() == 0 ? "no reason to" : "a reason to");
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
      late.is_asked = true;
    } else {
      std::puts(answer_to(command).c_str());
    }
  }
}
