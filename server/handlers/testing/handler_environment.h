// HandlerEnvironment: what handlers work with, in memory and without gRPC, with a clock that tests move.
#ifndef SLIPWAY_SERVER_HANDLERS_TESTING_HANDLER_ENVIRONMENT_H_
#define SLIPWAY_SERVER_HANDLERS_TESTING_HANDLER_ENVIRONMENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/identity/certificate_authority.h"
#include "core/store/compile_cache.h"
#include "core/store/memory_blob_store.h"
#include "core/wire/digest_proto.h"
#include "server/artifacts/artifact_library.h"
#include "server/caller.h"
#include "server/change_hub.h"
#include "server/devices/agent_offers.h"
#include "server/handlers/environment.h"
#include "server/handlers/open_uploads.h"
#include "server/identities/identities.h"
#include "server/limits.h"
#include "server/memory_watch.h"
#include "server/names.h"
#include "server/peers/sync_messages.h"
#include "server/scheduler/dispatcher.h"
#include "server/storage/memory_store.h"
#include "tests/common/fake_clock.h"

namespace slipway::server::testing {

// A server without peers: `env` is what its handlers get.
class HandlerEnvironment {
 public:
  HandlerEnvironment() {
    env.jobs = &store;
    env.history = &store;
    env.dispatcher = dispatcher.get();
    env.blobs = &blobs;
    env.uploads = &uploads;
    env.downloads = &downloads;
    env.artifacts = &artifacts;
    env.identities = identities.get();
    env.agent_offers = agent_offers.get();
    agent_offers->Follow(
        [this](const std::vector<AgentOfferRecord>& offers) { dispatcher->SetOffers(offers); });
    env.clock = &clock;
    env.ids = &ids;
    env.memory = &memory;
    env.fingerprint = [](const Target&) { return std::string(64, 'f'); };
    env.compiler_families = [] { return std::vector<std::string>{"arm-64-linux", "x86-64-linux"}; };
    env.instance_id = "instance";
  }

  v1::Digest Put(absl::string_view bytes) { return ToProto(*PutBytes(blobs, bytes)); }

  // The program of TestManifest with all its blobs; returns its manifest.
  v1::Digest PutProgram() {
    Put(TestCode());
    Put(TestConstants());
    return Put(SerializeManifest(TestManifest()));
  }

  // A device that reported itself, with nothing to do.
  absl::Status AddDevice(const std::string& id, const std::string& target, int max_benchmark = 0) {
    v1::AgentState state;
    state.set_agent_id(id);
    state.set_instance_id("i");
    state.set_sequence(1);
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.set_max_benchmark(max_benchmark);
    state.add_devices()->set_id(id);
    state.mutable_devices(0)->set_target(target);
    absl::StatusOr<Report> report = ReadReport(state, "here");
    if (!report.ok()) return report.status();
    return dispatcher->Reported(*std::move(report));
  }

  // Where memory is short, once this has been called.
  void TakeMemory() {
    memory_bytes = 1'000;
    clock.Advance(kMemoryReadEvery);
  }

  static Caller Owner(const std::string& name) { return {.owner = name, .roles = {Role::kUser}}; }

  const Caller caller = Owner("ann");
  const TemporaryFolder folder = *TemporaryFolder::Create("handlers");
  FakeClock clock;
  IdGenerator ids{[] { return 1; }};
  int64_t memory_bytes = 0;
  MemoryWatch memory{
      1'000, {.read = [this] { return memory_bytes; }, .give_back = [] {}, .clock = &clock}};
  ChangeHub hub;
  MemoryBlobStore blobs{&clock};
  OpenUploads uploads{&clock, {.in_all = 4, .of_owner = 3, .idle = kUploadIdle}};
  OpenDownloads downloads{{.in_all = 4,
                           .of_owner = 3,
                           .bytes = 1 << 20,
                           .least_piece = 16,
                           .largest_piece = kMaxPieceBytes}};
  const std::unique_ptr<FileCompileCache> cache = *FileCompileCache::Create(folder.path(), &clock);
  ArtifactLibrary artifacts{&blobs, cache.get()};
  MemoryDatabase database;
  MemoryStore store{&database};
  const std::unique_ptr<AgentOffers> agent_offers =
      *AgentOffers::Open(JoinPath(folder.path(), "agent-offers"));
  const std::unique_ptr<Dispatcher> dispatcher = *Dispatcher::Create({.jobs = &store,
                                                                      .devices = &store,
                                                                      .history = &store,
                                                                      .artifacts = &artifacts,
                                                                      .clock = &clock,
                                                                      .ids = &ids,
                                                                      .hub = &hub},
                                                                     {});
  const std::unique_ptr<CertificateAuthority> authority =
      *CertificateAuthority::Create(clock.Now());
  const std::unique_ptr<Identities> identities =
      *Identities::Create(&store, authority.get(), &clock);
  Environment env;
};

}  // namespace slipway::server::testing

#endif  // SLIPWAY_SERVER_HANDLERS_TESTING_HANDLER_ENVIRONMENT_H_
