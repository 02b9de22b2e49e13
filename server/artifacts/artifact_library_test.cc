#include "server/artifacts/artifact_library.h"

#include <memory>
#include <string>
#include <vector>

#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"
#include "core/identity/certificate_authority.h"
#include "core/rpc/program_statement.h"
#include "core/store/memory_blob_store.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/artifacts/counting_blob_store.h"
#include "server/identities/statement_key.h"
#include "server/limits.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kKey[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

class ArtifactLibraryTest : public ::testing::Test {
 protected:
  Digest Put(absl::string_view bytes) { return *PutBytes(blobs_, bytes); }
  Digest PutProgram(const v1::Manifest& manifest = TestManifest()) {
    Put(TestCode());
    Put(TestConstants());
    return Put(SerializeManifest(manifest));
  }
  // TestManifest with other constants.
  static v1::Manifest WithConstants(const std::string& constants) {
    v1::Manifest manifest = TestManifest();
    *manifest.mutable_constants(0)->mutable_blob() = ToProto(Digest::Of(constants));
    return manifest;
  }
  v1::RunAssignment Fill(const Digest& manifest) {
    v1::RunSpec spec;
    *spec.mutable_manifest() = ToProto(manifest);
    v1::RunAssignment assignment;
    EXPECT_OK(library_.FillAssignment(spec, "ada", &assignment));
    return assignment;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("artifact_library");
  MemoryBlobStore blobs_;
  const std::unique_ptr<FileCompileCache> cache_ = *FileCompileCache::Create(folder_.path());
  ArtifactLibrary library_{&blobs_, cache_.get()};
};

TEST_F(ArtifactLibraryTest, CheckPresentNamesTheFirstThree) {
  std::vector<Digest> digests;
  for (const char* bytes : {"a", "b", "c"}) digests.push_back(Digest::Of(bytes));
  EXPECT_THAT(CheckPresent(blobs_, digests, "the model"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       ::testing::AllOf(HasSubstr("3 of the blobs of the model"),
                                        HasSubstr(digests[2].ToString()),
                                        ::testing::Not(HasSubstr("...")))));
  digests.push_back(Digest::Of("d"));
  EXPECT_THAT(CheckPresent(blobs_, digests, "the model"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       ::testing::AllOf(HasSubstr("4 of"), HasSubstr(", ...;"),
                                        ::testing::Not(HasSubstr(digests[3].ToString())))));
  for (const char* bytes : {"a", "b", "c", "d"}) Put(bytes);
  EXPECT_OK(CheckPresent(blobs_, digests, "the model"));
}

TEST_F(ArtifactLibraryTest, ReadsWhatAServerNeedsToKnow) {
  const Digest manifest = PutProgram();
  const auto program = library_.ReadProgram(manifest);
  ASSERT_OK(program);
  EXPECT_EQ(program->target().ToString(), "x86-64-linux");
  ASSERT_EQ(program->signature().inputs.size(), 1);
  EXPECT_EQ(program->signature().inputs[0].name, "x");
  EXPECT_THAT(program->blobs(),
              ::testing::UnorderedElementsAre(Digest::Of(TestCode()), Digest::Of(TestConstants())));
  EXPECT_EQ(program->artifact_bytes(),
            manifest.size_bytes() + TestCode().size() + TestConstants().size());
  // Checked once: whoever asks again gets the same.
  EXPECT_EQ(&library_.ReadProgram(manifest)->proto(), &program->proto());
}

// Nothing here runs programs: code for GPUs and control pass through as they are.
TEST_F(ArtifactLibraryTest, PassesOnWhatOnlyADeviceKnows) {
  const Digest manifest = PutProgram(TestManifest2());
  const auto program = library_.ReadProgram(manifest);
  ASSERT_OK(program);
  EXPECT_EQ(program->target().ToString(), "x86-64-linux,cuda-sm90,opencl");
  EXPECT_EQ(Fill(manifest).manifest(), SerializeManifest(TestManifest2()));
}

TEST_F(ArtifactLibraryTest, RefusesManifestsThatAreNotHereOrNone) {
  EXPECT_THAT(library_.ReadProgram(Digest::Of("nowhere")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("write it")));
  const Digest garbage = Put("this is no manifest");
  EXPECT_THAT(library_.ReadProgram(garbage),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(garbage.ToString())));
}

TEST_F(ArtifactLibraryTest, FindsWhatWasAdmitted) {
  EXPECT_FALSE(library_.FindCompiled(kKey).has_value());
  CompilationFacts facts;
  facts.set_compile_key(kKey);
  v1::CompilationResult result;
  *result.mutable_manifest() = ToProto(PutProgram());
  result.mutable_report()->set_kernels(3);
  result.mutable_report()->set_printed_graph("graph");
  result.mutable_report()->set_printed_schedules("3f0c9a4410be72d1 rows\n");
  result.mutable_report()->add_candidates()->set_kernel("3f0c9a4410be72d1");
  ASSERT_OK(library_.Admit(facts, "worker-1", &result));
  EXPECT_EQ(result.compile_key(), kKey);
  EXPECT_GT(result.artifact_bytes(), TestConstants().size());
  EXPECT_FALSE(result.cached());

  const auto found = library_.FindCompiled(kKey);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->manifest().sha256(), result.manifest().sha256());
  EXPECT_EQ(found->compile_key(), kKey);
  EXPECT_EQ(found->artifact_bytes(), result.artifact_bytes());
  EXPECT_TRUE(found->cached());
  EXPECT_EQ(found->report().kernels(), 3);
  EXPECT_EQ(found->report().printed_graph(), "");
  EXPECT_EQ(found->report().printed_schedules(), "");
  EXPECT_EQ(found->report().candidates_size(), 0);

  // It is no hit without all of its blobs.
  ASSERT_OK(blobs_.Remove(Digest::Of(TestConstants())));
  EXPECT_FALSE(library_.FindCompiled(kKey).has_value());
  Put(TestConstants());
  EXPECT_TRUE(library_.FindCompiled(kKey).has_value());
  ASSERT_OK(blobs_.Remove(FromProto(result.manifest()).value()));
  EXPECT_FALSE(library_.FindCompiled(kKey).has_value());
}

TEST_F(ArtifactLibraryTest, AdmitsOnlyWhatIsComplete) {
  CompilationFacts facts;
  facts.set_compile_key(kKey);
  v1::CompilationResult result;
  EXPECT_THAT(library_.Admit(facts, "worker-1", &result),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the worker's result")));
  *result.mutable_manifest() = ToProto(PutProgram());
  ASSERT_OK(blobs_.Remove(Digest::Of(TestCode())));
  EXPECT_THAT(library_.Admit(facts, "worker-1", &result),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the compiled artifact")));
  EXPECT_FALSE(library_.FindCompiled(kKey).has_value());
}

TEST_F(ArtifactLibraryTest, AReportTooLargeForTheCacheIsLeftOut) {
  CompilationFacts facts;
  facts.set_compile_key(kKey);
  v1::CompilationResult result;
  *result.mutable_manifest() = ToProto(PutProgram());
  result.mutable_report()->add_stages()->set_name(std::string(kMaxCachedReportBytes, 'x'));
  ASSERT_OK(library_.Admit(facts, "worker-1", &result));
  EXPECT_EQ(result.report().stages_size(), 1);
  const auto found = library_.FindCompiled(kKey);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->report().stages_size(), 0);
}

// The cache refuses the key.
TEST_F(ArtifactLibraryTest, AResultStandsWithoutTheCache) {
  CompilationFacts facts;
  facts.set_compile_key("no key");
  v1::CompilationResult result;
  *result.mutable_manifest() = ToProto(PutProgram());
  EXPECT_OK(library_.Admit(facts, "worker-1", &result));
}

TEST_F(ArtifactLibraryTest, SmallBlobsTravelWithTheAssignment) {
  const v1::RunAssignment assignment = Fill(PutProgram());
  EXPECT_EQ(assignment.manifest(), SerializeManifest(TestManifest()));
  ASSERT_EQ(assignment.blobs_size(), 2);
  for (const v1::InlineBlob& blob : assignment.blobs()) {
    EXPECT_EQ(blob.digest().sha256(), Digest::Of(blob.data()).hex());
  }
}

TEST_F(ArtifactLibraryTest, ABlobIsSmallUpToItsLimit) {
  const std::string largest(kMaxInlineBlobBytes, 'c'), larger(kMaxInlineBlobBytes + 1, 'c');
  Put(largest);
  EXPECT_EQ(Fill(PutProgram(WithConstants(largest))).blobs_size(), 2);
  Put(larger);
  const v1::RunAssignment assignment = Fill(PutProgram(WithConstants(larger)));
  ASSERT_EQ(assignment.blobs_size(), 1);
  EXPECT_EQ(assignment.blobs(0).data(), TestCode());
}

TEST_F(ArtifactLibraryTest, AnAssignmentWantsItsProgram) {
  v1::RunSpec spec;
  v1::RunAssignment assignment;
  EXPECT_FALSE(library_.FillAssignment(spec, "ada", &assignment).ok());
  *spec.mutable_manifest() = ToProto(PutProgram());
  ASSERT_OK(blobs_.Remove(Digest::Of(TestCode())));
  EXPECT_THAT(library_.FillAssignment(spec, "ada", &assignment),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ArtifactLibraryTest, OutputsMustBeThoseOfTheProgramAndHere) {
  const v1::Digest program = ToProto(PutProgram());
  const std::string bytes(64, 'y');
  v1::RunResult result;
  const auto check = [&] { return library_.CheckOutputs(program, result); };
  const auto refused = [](absl::string_view why) {
    return StatusIs(absl::StatusCode::kInvalidArgument,
                    ::testing::AllOf(HasSubstr("the device's result"), HasSubstr(why)));
  };
  EXPECT_THAT(check(), refused("0 outputs; the program 1"));
  v1::Tensor& output = *result.add_outputs();
  output.set_name("y");
  EXPECT_THAT(check(), refused("y"));
  *output.mutable_type() = ToProto(TensorType{DataType::kFloat32, {2, 8}});
  *output.mutable_blob() = ToProto(Digest::Of(bytes));
  EXPECT_THAT(check(), StatusIs(absl::StatusCode::kFailedPrecondition));
  Put(bytes);
  EXPECT_OK(check());
  output.set_inline_data(bytes);
  EXPECT_OK(check());
  output.set_name("z");
  EXPECT_THAT(check(), refused("'z'"));
  output.set_name("y");
  *output.mutable_type() = ToProto(TensorType{DataType::kFloat32, {4, 4}});
  EXPECT_THAT(check(), refused("f32[4, 4]"));
  *output.mutable_type() = ToProto(TensorType{DataType::kInt32, {2, 8}});
  EXPECT_THAT(check(), refused("f32[2, 8]"));
  *output.mutable_type() = ToProto(TensorType{DataType::kFloat32, {2, 8}});
  *result.add_outputs() = output;
  EXPECT_THAT(check(), refused("2 outputs"));
}

TEST(CountingBlobStoreTest, CountsWhatIsRemoved) {
  std::atomic<int64_t> removed = 0;
  CountingBlobStore store(std::make_unique<MemoryBlobStore>(), &removed);
  const Digest digest = *PutBytes(store, "bytes");
  EXPECT_TRUE(store.Has(digest));
  EXPECT_EQ(store.Get(digest)->bytes(), "bytes");
  EXPECT_EQ(store.List()->size(), 1);
  EXPECT_THAT(store.Write(digest), StatusIs(absl::StatusCode::kAlreadyExists));
  const Digest other = Digest::Of("others");
  {
    const std::unique_ptr<BlobWriter> writer = *store.Write(other);
    ASSERT_OK(writer->Append("oth"));
  }
  EXPECT_EQ(store.PartialBytes(other), 3);
  EXPECT_EQ(removed, 0);
  ASSERT_OK(store.Remove(digest));
  EXPECT_EQ(removed, 1);
  EXPECT_FALSE(store.Has(digest));
}

class VouchingTest : public ArtifactLibraryTest {
 protected:
  static v1::Manifest Compiled() {
    v1::Manifest manifest = TestManifest();
    manifest.set_compile_key(kKey);
    return manifest;
  }
  std::unique_ptr<StatementKey> NewKey(const std::string& name) const {
    return *StatementKey::Open(authority_.get(), JoinPath(folder_.path(), name), clock_.Now());
  }
  ArtifactLibrary NewLibrary(const StatementKey* key) {
    return {&blobs_, cache_.get(), {.key = key, .clock = &clock_}};
  }
  void AdmitTo(ArtifactLibrary& library) {
    CompilationFacts facts;
    facts.set_compile_key(kKey);
    v1::CompilationResult result;
    *result.mutable_manifest() = ToProto(PutProgram(Compiled()));
    ASSERT_OK(library.Admit(facts, "worker-1", &result));
  }
  // What an agent that has joined the server reads of an assignment of the program.
  v1::ProgramStatement SaidOf(ArtifactLibrary& library, const Digest& manifest,
                              const std::string& owner = "ada") {
    v1::RunSpec spec;
    *spec.mutable_manifest() = ToProto(manifest);
    v1::RunAssignment assignment;
    EXPECT_OK(library.FillAssignment(spec, owner, &assignment));
    const auto said =
        CheckProgramStatement(key_->checker(), assignment.statement(), manifest, "x86-64-linux");
    EXPECT_OK(said);
    return said.ok() ? *said : v1::ProgramStatement();
  }

  FakeClock clock_;
  const std::unique_ptr<CertificateAuthority> authority_ =
      *CertificateAuthority::Create(clock_.Now());
  const std::unique_ptr<StatementKey> key_ = NewKey("signer.pem");
  ArtifactLibrary vouching_ = NewLibrary(key_.get());
};

TEST_F(VouchingTest, SaysWhoBroughtAProgram) {
  const Digest manifest = PutProgram();
  EXPECT_FALSE(SaidOf(vouching_, manifest).has_compiled());
  EXPECT_EQ(SaidOf(vouching_, manifest).brought().owner(), "ada");
  EXPECT_EQ(SaidOf(vouching_, manifest, "ben").brought().owner(), "ben");
  // One of a server that does not vouch has none.
  EXPECT_FALSE(Fill(manifest).has_statement());
  EXPECT_THAT(library_.Vouch(ArtifactLibrary::FactsOf(*library_.ReadProgram(manifest)), "ada"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(VouchingTest, SaysWhoCompiledAProgram) {
  AdmitTo(vouching_);
  const Digest manifest = PutProgram(Compiled());
  EXPECT_EQ(SaidOf(vouching_, manifest).compiled().worker(), "worker-1");
  EXPECT_EQ(SaidOf(vouching_, manifest, "ben").compiled().compile_key(), kKey);
  // After a restart, too, and with a key that was renewed meanwhile.
  const auto renewed = NewKey("renewed.pem");
  ArtifactLibrary again = NewLibrary(renewed.get());
  EXPECT_TRUE(again.IsCompiledHere(ArtifactLibrary::FactsOf(*again.ReadProgram(manifest))));
  EXPECT_EQ(SaidOf(again, manifest).compiled().worker(), "worker-1");
  EXPECT_TRUE(again.FindCompiled(kKey).has_value());
}

TEST_F(VouchingTest, AManifestThatNamesACompilationIsNotBelieved) {
  AdmitTo(vouching_);
  v1::Manifest forged = Compiled();
  forged.add_tools()->set_name("another");
  const Digest manifest = PutProgram(forged);
  EXPECT_FALSE(
      vouching_.IsCompiledHere(ArtifactLibrary::FactsOf(*vouching_.ReadProgram(manifest))));
  EXPECT_TRUE(SaidOf(vouching_, manifest).has_brought());
}

// Whoever else writes to the folder of the cache makes no program one that was compiled here.
TEST_F(VouchingTest, WhatLiesInTheCacheIsNotBelievedWithoutItsStatement) {
  const Digest manifest = PutProgram(Compiled());
  const auto is_believed = [&] {
    ArtifactLibrary library = NewLibrary(key_.get());
    EXPECT_EQ(SaidOf(library, manifest).has_compiled(), library.FindCompiled(kKey).has_value());
    return SaidOf(library, manifest).has_compiled();
  };
  AdmitTo(vouching_);
  ASSERT_OK_AND_ASSIGN(const CachedCompilation good, cache_->Find(kKey));
  EXPECT_TRUE(is_believed());
  CachedCompilation bad = good;
  bad.statement.clear();
  ASSERT_OK(cache_->Record(kKey, bad));
  EXPECT_FALSE(is_believed());
  bad.statement = good.statement;
  bad.statement[bad.statement.size() / 2] ^= 1;
  ASSERT_OK(cache_->Record(kKey, bad));
  EXPECT_FALSE(is_believed());
  // Of another server that shares the folder.
  const auto other = *CertificateAuthority::Create(clock_.Now());
  const auto others_key =
      *StatementKey::Open(other.get(), JoinPath(folder_.path(), "other.pem"), clock_.Now());
  ArtifactLibrary others = NewLibrary(others_key.get());
  AdmitTo(others);
  EXPECT_FALSE(is_believed());
  // It compiles it again, and then it is.
  ArtifactLibrary library = NewLibrary(key_.get());
  AdmitTo(library);
  EXPECT_TRUE(is_believed());
}

TEST_F(VouchingTest, ACompilationIsNotThatOfAnotherKey) {
  AdmitTo(vouching_);
  const std::string another_key(64, 'a');
  ASSERT_OK_AND_ASSIGN(const CachedCompilation good, cache_->Find(kKey));
  ASSERT_OK(cache_->Record(another_key, good));
  EXPECT_TRUE(vouching_.FindCompiled(kKey).has_value());
  EXPECT_FALSE(vouching_.FindCompiled(another_key).has_value());
  EXPECT_FALSE(NewLibrary(key_.get()).FindCompiled(another_key).has_value());
}

}  // namespace
}  // namespace slipway::server
