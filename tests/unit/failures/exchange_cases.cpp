// SPDX-License-Identifier: BSL-1.0
// Cases of tensors that are exported to other libraries, imported from them, or stored in files.
#include <byre/interop/dlpack.hpp>
#include <byre/interop/npy.hpp>
#include <byre/interop/npz.hpp>
#include <byre/interop/safetensors.hpp>

#include <filesystem>
#include <string>

#include "cases.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace exchange_table {

/// The tensor, its use count, and whether it is pinned.
std::string described_owners(const Tensor& tensor) {
  return described(tensor) + std::to_string(tensor.storage().use_count()) +
         (tensor.storage().is_pinned() ? " pinned" : "");
}

/// A case: an export of a tensor that shares its data with a lazy clone.
template <class Export>
Case export_case(const char* name, Export) {
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

/// A case: an import. A failed import releases its source.
template <class Import>
Case import_case(const char* name, Import) {
  return {name, [](Attempt& attempt) {
            const Tensor theirs = deep_tensor();
            Tensor ours;
            attempt(
                [&] { ours = Import()(theirs); },
                [&] { return described_owners(theirs) + (ours ? described_owners(ours) : ""); });
          }};
}

/// The contents of the file, and the number of files in its folder.
std::string state_of(const TemporaryFolder& folder, const std::filesystem::path& path) {
  const std::filesystem::directory_iterator files(folder.path());
  return std::to_string(std::distance(begin(files), end(files))) + " files, " +
         (std::filesystem::is_symlink(path) ? "a link to " : "") + read_file(path);
}

/// A case: `Save` replaces a file, or writes through a link to it.
template <bool is_link = false, class Save>
Case save_case(const char* name, Save) {
  return {name, [](Attempt& attempt) {
            const TemporaryFolder folder;
            write_file(folder / "file", "the former contents");
            const auto path = folder / (is_link ? "link" : "file");
            if (is_link) {
              std::filesystem::create_symlink(folder / "file", path);
            }
            attempt([&] { Save()(path); }, [&] { return state_of(folder, path); });
          }};
}

std::string text_of(const Tensor& tensor) {
  return described(tensor);
}
std::string text_of(const NamedTensors& tensors) {
  std::string text;
  for (const auto& [name, tensor] : tensors) {
    text += name + ": " + described(tensor) + "\n";
  }
  return text;
}
std::string text_of(const SafetensorsFile& file) {
  std::string text;
  for (const auto& [key, value] : file.metadata) {
    text += key + ": " + value + "\n";
  }
  return text + text_of(file.tensors);
}

/// A saved file and its bytes.
struct Written {
  std::filesystem::path path;
  std::string bytes;
  std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes)); }
};

/// A case: `Load` reads a file that `Save` wrote.
template <class Save, class Load>
Case load_case(const char* name, Save, Load) {
  return {name, [](Attempt& attempt) {
            const TemporaryFolder folder;
            Written file{folder / "a name that exceeds the inline capacity of strings", ""};
            Save()(file.path);
            file.bytes = read_file(file.path);
            std::optional<decltype(Load()(file))> loaded;
            attempt([&] { loaded.emplace(Load()(file)); },
                    [&] { return loaded ? text_of(*loaded) : ""; });
          }};
}

const Tensor& tensor_to_save() {
  static const Tensor tensor = deep_tensor().permute(reversed_axes);
  return tensor;
}
/// Names and metadata exceed the inline capacity of strings.
const NamedTensors& tensors_to_save() {
  static const NamedTensors tensors = {
      {"a name that exceeds the inline capacity of strings", deep_tensor()},
      {"another", tensor_to_save()},
      {"none", Tensor::empty({0}, DType::f32)}};
  return tensors;
}
constexpr auto save_array = [](const auto& path) { save_npy(path, tensor_to_save()); };
constexpr auto save_model = [](const auto& path) {
  static const std::vector<std::pair<std::string, std::string>> metadata = {
      {"a key that exceeds the inline capacity of strings",
       "a value that exceeds the inline capacity of strings"}};
  save_safetensors(path, tensors_to_save(), metadata);
};
constexpr auto save_unaligned_model = [](const auto& path) {
  save_model(path);
  std::string bytes = read_file(path);
  ++bytes[0];
  bytes.insert(9, " ");
  write_file(path, bytes);
};
#if BYRE_NPZ
template <NpzCompression compression>
constexpr auto save_archive =
    [](const auto& path) { save_npz(path, tensors_to_save(), compression); };
constexpr auto save_stored = save_archive<NpzCompression::stored>;
constexpr auto save_deflated = save_archive<NpzCompression::deflated>;
#endif

std::string header_text() {
  return npy_header(DType::f32, deep_sizes);
}

const Case cases[] = {
    export_case("to_dlpack", [](const Tensor& t) { return to_dlpack(t); }),
    export_case("to_dlpack", [](const Tensor& t) { return to_dlpack(t, DLPackAccess::write); }),
    export_case("to_dlpack", [](const Tensor& t) { return to_dlpack(t, DLPackAccess::copy); }),
    export_case("to_older_dlpack", [](const Tensor& t) { return to_older_dlpack(t); }),
    tensor_case("to_older_dlpack",
                [](Tensor& t) {
                  catch_refusal<InvalidArgument>(
                      [&] { (void)to_older_dlpack(t, DLPackAccess::read); });
                }),
    import_case("from_dlpack", [](const Tensor& theirs) { return from_dlpack(to_dlpack(theirs)); }),
    import_case("from_dlpack",
                [](const Tensor& theirs) { return from_dlpack(to_older_dlpack(theirs)); }),
    import_case("from_dlpack",
                [](const Tensor& theirs) {
                  auto* const managed = to_dlpack(theirs);
                  managed->dl_tensor.strides[0] = -1;
                  catch_refusal<ShapeError>([&] { from_dlpack(managed); });
                  return Tensor();
                }),

    call_case("npy_header", [] { return header_text(); }),
    call_case("parse_npy_header",
              [] {
                static const std::string text = header_text();
                return parse_npy_header(std::as_bytes(std::span(text))).sizes;
              }),
    load_case("load_npy", save_array, [](auto& file) { return load_npy(file.path); }),
    load_case("map_npy", save_array, [](auto& file) { return map_npy(file.path); }),
    load_case("read_npy", save_array, [](auto& file) { return read_npy(file.span()); }),
    save_case("save_npy", save_array),
    save_case<true>("save_npy",
                    [](const auto& path) {
                      save_npy(path, tensor_to_save(), {.byte_order = std::endian::big});
                    }),
#if BYRE_NPZ
    load_case("load_npz", save_stored, [](auto& file) { return load_npz(file.path); }),
    load_case("load_npz", save_deflated, [](auto& file) { return load_npz(file.path); }),
    load_case("map_npz", save_stored, [](auto& file) { return map_npz(file.path); }),
    load_case("map_npz", save_deflated, [](auto& file) { return map_npz(file.path); }),
    load_case("read_npz", save_stored, [](auto& file) { return read_npz(file.span()); }),
    save_case("save_npz", save_stored),
    save_case("save_npz", save_deflated),
#endif
    load_case("load_safetensors", save_model,
              [](auto& file) { return load_safetensors(file.path); }),
    load_case("map_safetensors", save_model, [](auto& file) { return map_safetensors(file.path); }),
    load_case("map_safetensors", save_unaligned_model,
              [](auto& file) { return map_safetensors(file.path); }),
    load_case("parse_safetensors_header", save_model,
              [](auto& file) {
                auto header = parse_safetensors_header(file.span(), file.bytes.size());
                return SafetensorsFile{{}, std::move(header.metadata)};
              }),
    load_case("read_safetensors", save_model,
              [](auto& file) { return read_safetensors(file.span()); }),
    call_case("read_safetensors",
              [] {
                using namespace std::string_view_literals;
                const auto bytes = "\x0d\0\0\0\0\0\0\0{\"a\":{\"b\":0}}"sv;
                catch_refusal<FileError>(
                    [&] { (void)read_safetensors(std::as_bytes(std::span(bytes))); });
                return std::string();
              }),
    save_case("save_safetensors", save_model),
};

}  // namespace exchange_table

std::span<const Case> exchange_cases() {
  return exchange_table::cases;
}

}  // namespace byre::test
