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
Row of_export(const char* name, Export) {
  return {name, [](Attempt& attempt) {
            const Tensor tensor = deep_tensor();
            const Tensor clone = tensor.lazy_clone();
            decltype(Export()(tensor)) managed = nullptr;
            attempt([&] { managed = Export()(tensor); },
                    [&] { return described_owners(tensor) + described(clone); });
            if (managed != nullptr) {
              managed->deleter(managed);
            }
          }};
}

/// A row of an import. One that fails releases what it was given.
template <class Import>
Row of_import(const char* name, Import) {
  return {name, [](Attempt& attempt) {
            const Tensor theirs = deep_tensor();
            Tensor ours;
            attempt(
                [&] { ours = Import()(theirs); },
                [&] { return described_owners(theirs) + (ours ? described_owners(ours) : ""); });
          }};
}

const Row rows[] = {
    of_export("to_dlpack", [](const Tensor& t) { return to_dlpack(t); }),
    of_export("to_dlpack", [](const Tensor& t) { return to_dlpack(t, DLPackAccess::write); }),
    of_export("to_dlpack", [](const Tensor& t) { return to_dlpack(t, DLPackAccess::copy); }),
    of_export("to_older_dlpack", [](const Tensor& t) { return to_older_dlpack(t); }),
    of_tensor("to_older_dlpack",
              [](Tensor& t) {
                refused<InvalidArgument>([&] { (void)to_older_dlpack(t, DLPackAccess::read); });
              }),
    of_import("from_dlpack", [](const Tensor& theirs) { return from_dlpack(to_dlpack(theirs)); }),
    of_import("from_dlpack",
              [](const Tensor& theirs) { return from_dlpack(to_older_dlpack(theirs)); }),
    of_import("from_dlpack",
              [](const Tensor& theirs) {
                auto* const managed = to_dlpack(theirs);
                managed->dl_tensor.strides[0] = -1;
                refused<ShapeError>([&] { from_dlpack(managed); });
                return Tensor();
              }),
};

}  // namespace exchange_rows

std::span<const Row> rows_of_exchange() {
  return exchange_rows::rows;
}

}  // namespace byre::test
