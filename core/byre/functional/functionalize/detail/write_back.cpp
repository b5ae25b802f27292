// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/functional/functionalize/detail/pass.hpp>
#include <byre/functional/functionalize/detail/write_back.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/detail/tensor_write.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/detail/convert.hpp>
#include <byre/tensor/elements/detail/overlap.hpp>
#include <byre/tensor/layout/detail/strided_copy.hpp>

#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::functional {
namespace {

using byre::detail::ElementAccess;
using byre::detail::Operand;
using byre::detail::StridedCopy;
using byre::detail::TensorWrite;

/// Prepares the copy of `value` to `part`. Requires that `part` is not empty and in memory of the
/// host. The returned pointers are valid until the memory is cloned.
StridedCopy prepared(TensorWrite& write, const Tensor& part, const Tensor& value) {
  void* const to = write.materialize(&part.layout());
  return {part.sizes(), Operand::of(to, part.layout(), part.itemsize()),
          Operand::of(ElementAccess::to_read(value), value.layout(), value.itemsize()),
          part.itemsize(), byre::detail::conversion(part.dtype(), value.dtype(), "functionalize")};
}

}  // namespace

void WriteBack::write(Tensor part, const Tensor& value) {
  BYRE_ASSERT(part.sizes() == value.sizes() && part.dtype() == value.dtype(),
              "the part and its value differ in sizes or dtype");
  if (part.numel() != 0) {
    byre::detail::expect_distinct_elements(part, operation_);
    // A clone: the value may view the memory of another part, which is written first.
    memory_writes_.push_back({std::move(part), value.lazy_clone()});
  }
}

void WriteBack::write(const AnyTensor& tensor, const AnyTensor& value) {
  if (const CpuTensor* const on_cpu = tensor.as<CpuTensor>()) {
    write(on_cpu->value, to_cpu(value));
  } else if (const auto* const under_pass = tensor.as<FunctionalTensor>()) {
    detail::expect_takes_batch(*under_pass, value.batch_level(), operation_);
    updates_.push_back({tensor, value});
  } else {
    rebind(tensor, value);
  }
}

void WriteBack::rebind(const AnyTensor& tensor, const AnyTensor& other) {
  rebinds_.push_back({tensor, tensor.impl().to_rebind(other)});
}

void WriteBack::commit() {
  std::vector<FunctionalTensor::PreparedWrite> updates;
  for (const Change& update : updates_) {
    auto& target = *update.tensor.as<FunctionalTensor>();
    updates.push_back(target.prepare_write(operation_, updates_.size()));
  }
  for (MemoryWrite& each : memory_writes_) {
    if (each.value.storage().shares_data_with(each.memory.storage())) {
      each.value = each.value.clone();  // releases the shared data: see commit()
    }
  }
  for (const MemoryWrite& each : memory_writes_) {
    Storage memory = each.memory.storage();
    memory.materialize();
  }
  std::vector<StridedCopy> copies;
  std::vector<TensorWrite> writes;
  copies.reserve(memory_writes_.size());
  writes.reserve(memory_writes_.size());
  for (MemoryWrite& each : memory_writes_) {
    if (each.memory.device().is_cpu() && each.value.device().is_cpu()) {
      TensorWrite& write =
          writes.emplace_back(each.memory, each.memory.nbytes(), CallSite::current());
      copies.push_back(prepared(write, each.memory, each.value));
    } else {
      copy_(each.memory, each.value);
    }
  }
  for (TensorWrite& write : writes) {
    write.done();
  }
  // No later step can fail.
  for (const StridedCopy& copy : copies) {
    copy.run();
  }
  for (std::size_t index = 0; index < updates.size(); ++index) {
    updates[index].commit(updates_[index].prepared);
  }
  for (const Change& change : rebinds_) {
    change.tensor.impl().rebind(change.prepared.impl());
  }
}

}  // namespace byre::inline BYRE_ABI::functional
