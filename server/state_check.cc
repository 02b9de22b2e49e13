#include "server/state_check.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/byte_size.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/store/file_blob_store.h"
#include "core/wire/digest_proto.h"
#include "server/data_folder.h"
#include "server/devices/agent_offers.h"
#include "server/names.h"
#include "server/storage/sqlite_store.h"

namespace slipway::server {
namespace {

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

absl::string_view KindOf(const DamagedRow& row) {
  switch (row.kind) {
    case DamagedRow::Kind::kJob:
      return "job";
    case DamagedRow::Kind::kDevice:
      return "device";
    case DamagedRow::Kind::kStanding:
      return "standing";
    case DamagedRow::Kind::kReservation:
      return "reservation";
    case DamagedRow::Kind::kIdentity:
      return "identity";
    case DamagedRow::Kind::kHistory:
      return "history";
  }
  return "";
}

// A name for what was lost: what was damaged may be any bytes.
std::string FileNameOf(const DamagedRow& row) {
  const bool is_plain = CheckJobId(row.id).ok() || CheckPeerId(KindOf(row), row.id).ok();
  return absl::StrCat(KindOf(row), "-", is_plain ? row.id : Digest::Of(row.id).hex().substr(0, 16));
}

class StateCheck {
 public:
  StateCheck(const StateCheckOptions& options, const std::function<void(absl::string_view)>& tell)
      : options_(options), tell_(tell) {}

  absl::StatusOr<StateCheckResult> Run() {
    if (!Exists(options_.data_dir)) {
      return absl::NotFoundError(absl::StrCat("there is no data folder '", options_.data_dir,
                                              "': name it with --data-dir"));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const FileLock lock,
                             LockDataFolder(options_.data_dir, "slipwayd check"));
    SLIPWAY_RETURN_IF_ERROR(CheckDatabase());
    SLIPWAY_RETURN_IF_ERROR(CheckOffers());
    SLIPWAY_RETURN_IF_ERROR(CheckBlobs());
    return result_;
  }

 private:
  // `mend` is called with --repair; it may be empty where nothing here helps.
  absl::Status Found(absl::string_view what, absl::string_view remedy,
                     const std::function<absl::Status()>& mend) {
    ++result_.found;
    if (mend && options_.repair) {
      SLIPWAY_RETURN_IF_ERROR_WITH(mend(), what);
      ++result_.mended;
      tell_(absl::StrCat(what, ": ", remedy));
    } else {
      tell_(absl::StrCat(what, mend ? "; with --repair: " : "; ", remedy));
    }
    return absl::OkStatus();
  }

  absl::Status CheckDatabase() {
    const std::string path = JoinPath(options_.data_dir, kDatabaseName);
    if (!Exists(path)) {
      tell_("no database");
      return absl::OkStatus();
    }
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::unique_ptr<SqliteStore> store, SqliteStore::Open(path),
                                  absl::StrCat("'", path, "'"));
    SLIPWAY_ASSIGN_OR_RETURN(const SqliteStore::Damage damage, store->FindDamage());
    for (const std::string& what : damage.file) {
      SLIPWAY_RETURN_IF_ERROR(
          Found(absl::StrCat("database file: ", what),
                absl::StrCat("save what can be read of it: sqlite3 ", path, " .recover"), nullptr));
    }
    for (const DamagedRow& row : damage.rows) {
      SLIPWAY_RETURN_IF_ERROR(
          Found(absl::StrCat(KindOf(row), " '", absl::Utf8SafeCEscape(row.id), "': ", row.why),
                absl::StrCat("moved to ", kLostName, "/", FileNameOf(row)), [&]() -> absl::Status {
                  SLIPWAY_RETURN_IF_ERROR(KeepLost(row));
                  return store->Delete(row);
                }));
    }
    tell_(absl::StrCat("database: ", damage.rows_read,
                       " jobs, devices, standings, reservations, identities and entries of the "
                       "history read"));
    // Of a file that cannot be read through, what live jobs need is not known either.
    const absl::StatusOr<std::vector<JobRecord>> live = store->ListLive();
    if (live.ok()) live_ = *live;
    return absl::OkStatus();
  }

  absl::Status KeepLost(const DamagedRow& row) const {
    const std::string folder = JoinPath(options_.data_dir, kLostName);
    SLIPWAY_RETURN_IF_ERROR(MakeFolders(folder));
    for (const auto& [name, bytes] : row.contents) {
      if (bytes.empty()) continue;
      const std::string path = JoinPath(folder, absl::StrCat(FileNameOf(row), ".", name));
      SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(path, bytes, /*durable=*/true));
    }
    return absl::OkStatus();
  }

  absl::Status CheckOffers() {
    const std::string path = JoinPath(options_.data_dir, kAgentOffersName);
    const absl::StatusOr<std::unique_ptr<AgentOffers>> offers = AgentOffers::Open(path);
    if (absl::IsDataLoss(offers.status())) {
      return Found(offers.status().message(),
                   absl::StrCat("moved to ", kLostName, "/", kAgentOffersName),
                   [&]() -> absl::Status {
                     const std::string folder = JoinPath(options_.data_dir, kLostName);
                     SLIPWAY_RETURN_IF_ERROR(MakeFolders(folder));
                     if (rename(path.c_str(), JoinPath(folder, kAgentOffersName).c_str()) == 0) {
                       return absl::OkStatus();
                     }
                     return ErrnoStatus(errno, path);
                   });
    }
    if (!offers.ok()) return offers.status();
    offered_ = (*offers)->Binaries();
    return absl::OkStatus();
  }

  absl::Status CheckBlobs() {
    absl::flat_hash_set<Digest> sound;
    if (Exists(options_.blob_dir)) {
      SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::unique_ptr<FileBlobStore> store,
                                    FileBlobStore::Create({.folder = options_.blob_dir}),
                                    "--blob-dir");
      SLIPWAY_ASSIGN_OR_RETURN(const std::vector<BlobInfo> blobs, store->List());
      int64_t bytes = 0;
      for (const BlobInfo& blob : blobs) {
        const Digest& digest = blob.digest;
        const absl::Status status = store->Inspect(digest);
        bytes += digest.size_bytes();
        if (status.ok()) {
          sound.insert(digest);
        } else if (absl::IsDataLoss(status)) {
          SLIPWAY_RETURN_IF_ERROR(Found(absl::StrCat("blob ", digest.hex(), ": ", status.message()),
                                        "removed", [&] { return store->Remove(digest); }));
        } else if (!absl::IsNotFound(status)) {  // Another server may have removed it.
          return status;
        }
      }
      SLIPWAY_ASSIGN_OR_RETURN(const UnfinishedBlobs unfinished, store->CountUnfinished());
      tell_(absl::StrCat("blobs: ", blobs.size(), " with ", RoundByteSize(bytes), " read, ",
                         unfinished.count, " unfinished transfers with ",
                         RoundByteSize(unfinished.bytes)));
    } else {
      tell_("no blobs");
    }
    return CheckNeeded(sound);
  }

  // Says which jobs and offers will fail for what is not there.
  absl::Status CheckNeeded(const absl::flat_hash_set<Digest>& sound) {
    for (const JobRecord& record : live_) {
      for (const v1::Digest& needed : record.blobs()) {
        const absl::StatusOr<Digest> digest = FromProto(needed);
        if (digest.ok() && sound.contains(*digest)) continue;
        SLIPWAY_RETURN_IF_ERROR(Found(
            absl::StrCat("job '", record.job().id(), "': blob ", needed.sha256(), " is not here"),
            "send what it is made of again, or cancel the job", nullptr));
      }
    }
    for (const Digest& binary : offered_) {
      if (sound.contains(binary)) continue;
      SLIPWAY_RETURN_IF_ERROR(
          Found(absl::StrCat("what agents are offered: blob ", binary.hex(), " is not here"),
                "offer it again (slipway offer), or withdraw it", nullptr));
    }
    return absl::OkStatus();
  }

  const StateCheckOptions& options_;
  const std::function<void(absl::string_view)>& tell_;
  StateCheckResult result_;
  std::vector<JobRecord> live_;  // Jobs that have not ended.
  std::vector<Digest> offered_;  // Binaries.
};

}  // namespace

absl::StatusOr<StateCheckResult> CheckState(const StateCheckOptions& options,
                                            const std::function<void(absl::string_view)>& tell) {
  return StateCheck(options, tell).Run();
}

}  // namespace slipway::server
