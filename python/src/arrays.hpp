// SPDX-License-Identifier: BSL-1.0
/// NumPy's side of blocks: its memory handler, and arrays in a block that is there already.
#pragma once

#include "blocks.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>

namespace byre::inline v0::python {

/// An array in a new block, which it owns. With `like`, an array in `source`, the result lies in the block where that
/// lies in its own, and has the subclass, dtype and strides of like.copy(order="K"). Without, it is all bytes of the
/// block, as uint8. Ends the block if there is no memory for the array.
pybind11::object array_in(Block& block, const Block* source, pybind11::handle like);

/// Adds set_handler() and reset_handler().
void define_handler(pybind11::module_& module);

}  // namespace byre::inline v0::python
