// SPDX-License-Identifier: BSL-1.0
/// Json: the type for the figures of a program. It preserves the order of insertion.
#pragma once

#include <nlohmann/json.hpp>

namespace byre::test {

using Json = nlohmann::ordered_json;

}  // namespace byre::test
