// SPDX-License-Identifier: BSL-1.0
// Tensors that other libraries see, and that come from them.
#include <byre/interop/dlpack.hpp>

#include <string>

#include "rows.hpp"

namespace byre::test {
namespace exchange_rows {

/// What a tensor is, and who else has a part of it.
std::string described_owners(const Tensor& tensor) {
  return described(tensor) + std::to_string(tensor.storage().use_count()) +
         (tensor.storage().is_pinned() ? " pinned" : "");
}

/// A row of what exports a tensor of which a lazy clone has the data too.
template <class Export>
void give_to_another(Attempt& attempt, const Export& export_tensor) {
  const Tensor tensor = deep_tensor();
  const Tensor clone = tensor.lazy_clone();
  decltype(export_tensor(tensor)) managed = nullptr;
  attempt([&] { managed = export_tensor(tensor); },
          [&] { return described_owners(tensor) + described(clone); });
  if (managed != nullptr) {
    managed->deleter(managed);
  }
}

void export_to_read(Attempt& attempt) {
  give_to_another(attempt, [](const Tensor& tensor) { return to_dlpack(tensor); });
}
void export_to_write(Attempt& attempt) {
  give_to_another(attempt,
                  [](const Tensor& tensor) { return to_dlpack(tensor, DLPackAccess::write); });
}
void export_a_copy(Attempt& attempt) {
  give_to_another(attempt,
                  [](const Tensor& tensor) { return to_dlpack(tensor, DLPackAccess::copy); });
}
void export_to_older(Attempt& attempt) {
  give_to_another(attempt, [](const Tensor& tensor) { return to_older_dlpack(tensor); });
}
void refuse_to_export(Attempt& attempt) {
  attempt([] {
    refused<InvalidArgument>(
        [] { static_cast<void>(to_older_dlpack(deep_tensor(), DLPackAccess::read)); });
  });
}

/// What fails releases what it was given.
template <class Import>
void take_from_another(Attempt& attempt, const Import& import_tensor) {
  const Tensor theirs = deep_tensor();
  Tensor ours;
  attempt([&] { ours = import_tensor(theirs); },
          [&] { return described_owners(theirs) + (ours ? described_owners(ours) : ""); });
}

void import_to_read(Attempt& attempt) {
  take_from_another(attempt, [](const Tensor& theirs) { return from_dlpack(to_dlpack(theirs)); });
}
void import_from_older(Attempt& attempt) {
  take_from_another(attempt,
                    [](const Tensor& theirs) { return from_dlpack(to_older_dlpack(theirs)); });
}
void refuse_to_import(Attempt& attempt) {
  take_from_another(attempt, [](const Tensor& theirs) {
    auto* const managed = to_dlpack(theirs);
    managed->dl_tensor.strides[0] = -1;
    refused<ShapeError>([&] { from_dlpack(managed); });
    return Tensor();
  });
}

const Row rows[] = {
    {"to_dlpack", export_to_read},         {"to_dlpack", export_to_write},
    {"to_dlpack", export_a_copy},          {"to_older_dlpack", export_to_older},
    {"to_older_dlpack", refuse_to_export}, {"from_dlpack", import_to_read},
    {"from_dlpack", import_from_older},    {"from_dlpack", refuse_to_import},
};

}  // namespace exchange_rows

std::span<const Row> rows_of_exchange() {
  return exchange_rows::rows;
}

}  // namespace byre::test
