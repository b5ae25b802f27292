// SPDX-License-Identifier: BSL-1.0
#include "exchange.hpp"

#include "copies.hpp"
#include "errors.hpp"
#include "later.hpp"
#include "locks.hpp"

#include <byre/tensor/layout.hpp>

#include <memory>
#include <utility>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// What byre adopts: its deleter runs no Python code, as it may be called with stripes held, or by a thread
/// without the interpreter's lock.
struct Import {
  dlpack::DLManagedTensorVersioned managed{};
  PyObject* owner = nullptr;

  static void release(dlpack::DLManagedTensorVersioned* managed) {
    const std::unique_ptr<Import> import(static_cast<Import*>(managed->manager_ctx));
    release_later(import->owner);
  }
};

/// Bools are looked at, each of them. The sizes of what is refused may not be there.
std::size_t nbytes_looked_at(const dlpack::DLTensor& seen) {
  if (seen.dtype.code != dlpack::kDLBool || seen.shape == nullptr ||
      seen.ndim > std::int32_t{max_ndim}) {
    return 0;
  }
  std::size_t nbytes = 1;
  for (std::int32_t axis = 0; axis < seen.ndim; ++axis) {
    if (__builtin_mul_overflow(nbytes, static_cast<std::size_t>(seen.shape[axis]), &nbytes)) {
      break;
    }
  }
  return nbytes;
}

}  // namespace

void expect_writable(const Tensor& tensor, const char* operation) {
  if (may_overlap_itself(tensor.layout())) {
    throw NotABuffer(format_text(
        "%s of sizes %.200s and strides %.200s, in which elements are repeated: a write to one "
        "would show in others. Copy it first.",
        operation, to_string(tensor.sizes()).c_str(), to_string(tensor.strides()).c_str()));
  }
}

Pin pinned(const Tensor& tensor, ExportTo access, const char* operation) {
  if (access == ExportTo::read) {
    return reading({&tensor}, 0, [&] { return tensor.storage().pin_to_read(); });
  }
  expect_writable(tensor, operation);
  const CopyRule rule;
  return writing(tensor, {}, 0, [&] {
    rule.before_write(tensor, operation);
    Tensor written = tensor;
    static_cast<void>(written.mutable_raw_data());
    Storage storage = tensor.storage();
    return storage.pin();
  });
}

Tensor imported(const dlpack::DLTensor& seen, std::uint64_t flags, py::object owner) {
  auto import = std::make_unique<Import>();
  import->managed.version = dlpack::version;
  import->managed.flags = flags;
  import->managed.dl_tensor = seen;
  import->managed.manager_ctx = import.get();
  import->managed.deleter = &Import::release;
  import->owner = owner.release().ptr();
  return reading({}, nbytes_looked_at(seen),
                 [&] { return from_dlpack(&import.release()->managed); });
}

}  // namespace byre::inline v0::python
