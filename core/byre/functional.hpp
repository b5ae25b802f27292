// SPDX-License-Identifier: BSL-1.0
/// Includes every public header of the library `byre-functional`: operators and their dispatch,
/// functionalization, batching and graphs. `byre-functional` requires the library `byre-tensor`.
#pragma once

#include <byre/functional/batching/vmap.hpp>
#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/functional/dispatch/argument.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/dispatch/kernel.hpp>
#include <byre/functional/dispatch/key.hpp>
#include <byre/functional/dispatch/operator.hpp>
#include <byre/functional/dispatch/registry.hpp>
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/functional/dispatch/schema.hpp>
#include <byre/functional/functionalize/capture.hpp>
#include <byre/functional/functionalize/functional_tensor.hpp>
#include <byre/functional/functionalize/options.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/functional/graph/graph.hpp>
#include <byre/functional/graph/recording.hpp>
#include <byre/functional/graph/text.hpp>
#include <byre/tensor.hpp>
