// SPDX-License-Identifier: BSL-1.0
/// The smallest program that still fails.
#pragma once

#include "program.hpp"

namespace byre::test {

/// Of `program`, which fails: what fails too, and no single step, input, output or number of it can
/// be dropped or made smaller.
Program shrunk(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace byre::test
