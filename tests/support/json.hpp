// SPDX-License-Identifier: BSL-1.0
/// The figures of a program as JSON, in the order in which they were put there.
#pragma once

#include <nlohmann/json.hpp>

namespace byre::test {

using Json = nlohmann::ordered_json;

}  // namespace byre::test
