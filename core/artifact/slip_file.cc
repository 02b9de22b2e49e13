#include "core/artifact/slip_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/slip_layout.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using Append = absl::FunctionRef<absl::Status(absl::string_view)>;

// Produces the file in order, piece by piece.
absl::Status EmitSlip(const CheckedManifest& manifest, Artifact::GetBlob get_blob, Append append) {
  std::vector<Digest> digests = {manifest.digest()};
  digests.insert(digests.end(), manifest.blobs().begin(), manifest.blobs().end());
  const SlipLayout layout = LayOutSlip(digests);
  const std::string head = FormatSlipHead(layout);
  SLIPWAY_RETURN_IF_ERROR(append(head));
  const std::string padding(kSlipSectionAlignment, '\0');
  auto reached = static_cast<int64_t>(head.size());
  for (size_t i = 0; i < layout.sections.size(); ++i) {
    const SlipSection& section = layout.sections[i];
    SLIPWAY_RETURN_IF_ERROR(append(
        absl::string_view(padding).substr(0, static_cast<size_t>(section.offset - reached))));
    Blob blob(manifest.bytes(), nullptr);
    if (i > 0) {
      SLIPWAY_ASSIGN_OR_RETURN(blob, get_blob(section.digest));
    }
    if (blob.size_bytes() != section.digest.size_bytes()) {
      return absl::DataLossError(
          absl::StrCat("blob ", section.digest.ToString(), " has ", blob.size_bytes(), " bytes"));
    }
    SLIPWAY_RETURN_IF_ERROR(append(blob.bytes()));
    blob.LetGo();
    reached = section.offset + section.digest.size_bytes();
  }
  return absl::OkStatus();
}

std::string Quote(absl::string_view path) {
  return absl::StrCat("'", absl::Utf8SafeCEscape(path), "'");
}

absl::Status WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, "cannot write it");
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<Artifact> ParseSections(const Blob& file, const SlipLayout& layout,
                                       const ReaderLimits& limits) {
  const absl::string_view bytes = file.bytes();
  auto reached = static_cast<int64_t>(kSlipHeaderBytes + layout.sections.size() * kSlipEntryBytes);
  for (size_t i = 0; i < layout.sections.size(); ++i) {
    const SlipSection& section = layout.sections[i];
    const absl::string_view padding =
        bytes.substr(static_cast<size_t>(reached), static_cast<size_t>(section.offset - reached));
    if (padding.find_first_not_of('\0') != absl::string_view::npos) {
      return absl::DataLossError(absl::StrCat("padding before section ", i, " is corrupted"));
    }
    const Blob part = file.Part(section.offset, section.digest.size_bytes());
    if (Digest::Of(part.bytes()) != section.digest) {
      return absl::DataLossError(
          i == 0 ? "section 0, the manifest, is corrupted"
                 : absl::StrCat("section ", i, ", blob ", section.digest.hex(), ", is corrupted"));
    }
    reached = section.offset + section.digest.size_bytes();
  }
  const SlipSection& manifest = layout.sections.front();
  // The sections must be the blobs of the manifest, in its order.
  size_t next = 1;
  SLIPWAY_ASSIGN_OR_RETURN(
      Artifact artifact,
      Artifact::Parse(
          file.Part(manifest.offset, manifest.digest.size_bytes()).bytes(),
          [&](const Digest& digest) -> absl::StatusOr<Blob> {
            if (next >= layout.sections.size() || layout.sections[next].digest != digest) {
              return absl::InvalidArgumentError(
                  absl::StrCat("section ", next, " should be blob ", digest.ToString()));
            }
            const SlipSection& section = layout.sections[next++];
            return file.Part(section.offset, section.digest.size_bytes());
          },
          limits));
  if (next != layout.sections.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("section ", next, " holds a blob that the manifest does not name"));
  }
  return artifact;
}

}  // namespace

bool LooksLikeSlip(absl::string_view bytes) {
  return bytes.substr(0, kSlipMagic.size()) == kSlipMagic;
}

absl::StatusOr<Artifact> ParseSlip(const Blob& file, const ReaderLimits& limits) {
  SLIPWAY_ASSIGN_OR_RETURN(const SlipLayout layout, ParseSlipHead(file.bytes(), limits));
  return ParseSections(file, layout, limits);
}

absl::StatusOr<Artifact> ReadSlip(const std::string& path, const ReaderLimits& limits) {
  SLIPWAY_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, limits.file_bytes));
  absl::StatusOr<Artifact> artifact = ParseSlip(Blob::Own(std::move(file)), limits);
  if (!artifact.ok()) return Annotate(artifact.status(), Quote(path));
  return artifact;
}

absl::Status WriteSlip(const Artifact& artifact, const std::string& path) {
  const auto get = [&artifact](const Digest& digest) { return artifact.blob(digest); };
  return WriteSlip(artifact.manifest(), get, path);
}

absl::Status WriteSlip(const CheckedManifest& manifest, Artifact::GetBlob get_blob,
                       const std::string& path) {
  std::string temporary = absl::StrCat(path, ".XXXXXX");
  UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.is_open()) {
    return ErrnoStatus(errno, absl::StrCat("cannot make ", Quote(temporary)));
  }
  absl::Status status = EmitSlip(
      manifest, get_blob, [&fd](absl::string_view bytes) { return WriteAll(fd.get(), bytes); });
  // mkostemp makes files for their owner alone; an export is for handing on.
  if (status.ok() && fchmod(fd.get(), 0644) != 0) {
    status = ErrnoStatus(errno, "cannot set its permissions");
  }
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoStatus(errno, "cannot rename it");
  }
  if (!status.ok()) unlink(temporary.c_str());
  return Annotate(status, Quote(path));
}

std::string FormatSlip(const Artifact& artifact) {
  std::string file;
  const auto get = [&artifact](const Digest& digest) { return artifact.blob(digest); };
  EmitSlip(artifact.manifest(), get, [&file](absl::string_view bytes) {
    file.append(bytes.data(), bytes.size());
    return absl::OkStatus();
  }).IgnoreError();
  return file;
}

}  // namespace slipway
