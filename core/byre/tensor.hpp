// SPDX-License-Identifier: BSL-1.0
/// Tensors, operations on their elements, file formats and the tracking of reshapes: everything in
/// the library `byre-tensor`. Includes byre.hpp.
#pragma once

#include <byre/byre.hpp>
#include <byre/interop/dlpack.hpp>
#include <byre/interop/named_tensors.hpp>
#include <byre/interop/npy.hpp>
#include <byre/interop/npy_header.hpp>
#include <byre/interop/npz.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/interop/safetensors_header.hpp>
#include <byre/interop/span.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/shadow/report.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/shadow/suppression.hpp>
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/half.hpp>
#include <byre/tensor/layout.hpp>
#include <byre/tensor/print.hpp>
#include <byre/tensor/promotion.hpp>
#include <byre/tensor/scalar.hpp>
#include <byre/tensor/states.hpp>
#include <byre/tensor/tensor.hpp>
#include <byre/tensor/view_geometry.hpp>
#include <byre/tensor/views.hpp>
