// Servers that are called over TLS: who gets how far.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "core/base/files.h"
#include "core/identity/given_identity.h"
#include "core/identity/identity_file.h"
#include "core/identity/identity_id.h"
#include "core/identity/join_code.h"
#include "core/rpc/grpc_call_counts.h"
#include "core/rpc/grpc_calls.h"
#include "core/rpc/grpc_credentials.h"
#include "core/rpc/grpc_listener.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/join_door.h"
#include "core/rpc/knock.h"
#include "core/rpc/peer_address.h"
#include "core/rpc/testing/test_identities.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "tests/common/company.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using slipway::testing::StatusIs;
using slipway::testing::TestIdentities;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kAda[] = "00000000000000ad";
constexpr char kRevoked[] = "00000000000000ff";
// Long enough for whatever must happen, on a busy machine.
constexpr int kPatienceMillis = 30'000;

// Answers every call by an error that says whose it is.
class WhoService final : public grpc::CallbackGenericService {
 public:
  std::function<void(const grpc::GenericCallbackServerContext&)> on_call;

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Reactor(const std::string& who) {
      Finish(grpc::Status(grpc::StatusCode::ABORTED, "you are " + who));
    }
    void OnDone() override { delete this; }
  };

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (on_call) on_call(*context);
    return new Reactor(CallerIdentity(*context->auth_context()));
  }
};

class GrpcTlsTest : public ::testing::Test {
 protected:
  ~GrpcTlsTest() override {
    if (listener_ != nullptr) listener_->Stop();
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }

  void Serve(ListenerOptions options = {}, bool takes_tokens = false) {
    options.connections = {.all = 1'000, .each_peer = 1'000};
    options.is_tls = true;
    grpc::ServerBuilder builder;
    ApplyServerSettings(builder);
    builder.RegisterCallbackGenericService(&service_);
    const auto may_connect = [](absl::string_view uri) { return uri != IdentityUri(kRevoked); };
    ASSERT_OK_AND_ASSIGN(listener_,
                         GrpcListener::Listen("127.0.0.1:0", options, builder,
                                              ServerCredentialsFor(ServerFiles::Of(ours_.Server()),
                                                                   may_connect, takes_tokens),
                                              by_other_names_));
    service_.on_call = [this](const grpc::GenericCallbackServerContext& context) {
      if (!proves_) return;
      let_in_ = listener_->LetInCall(context.peer(), CallerIdentity(*context.auth_context()));
    };
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    listener_->Start();
  }

  absl::Status Call(const CallerProof& proof) const {
    Calls calls(listener_->address(), proof);
    return CallBy(calls);
  }
  static absl::Status CallBy(Calls& calls) {
    return calls.Once(absl::Seconds(30), {}, [&calls](grpc::ClientContext& context) {
      grpc::GenericStub stub(calls.channel());
      grpc::CompletionQueue queue;
      const grpc::ByteBuffer nothing(nullptr, 0);
      grpc::ByteBuffer answer;
      grpc::Status status;
      auto call = stub.PrepareUnaryCall(&context, "/slipway.Test/Who", nothing, &queue);
      call->StartCall();
      call->Finish(&answer, &status, &status);
      void* tag = nullptr;
      bool ok = false;
      queue.Next(&tag, &ok);
      return status;
    });
  }

  UniqueFd Connect() const {
    int port = 0;
    const std::string& address = listener_->address();
    EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(static_cast<uint16_t>(port));
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    return fd;
  }
  // Waits until the other side has closed it, whatever it says before.
  static bool IsClosed(const UniqueFd& fd, int millis = kPatienceMillis) {
    for (;;) {
      pollfd polled = {.fd = fd.get(), .events = POLLIN, .revents = 0};
      char bytes[4096];
      if (poll(&polled, 1, millis) != 1) return false;
      if (recv(fd.get(), bytes, sizeof(bytes), 0) <= 0) return true;
    }
  }

  const TestIdentities ours_;
  const TestIdentities others_;
  std::shared_ptr<grpc::ServerCredentials> by_other_names_;
  WhoService service_;
  std::atomic<bool> proves_ = true;
  absl::Status let_in_;  // What became of the last call.
  std::unique_ptr<GrpcListener> listener_;
  std::unique_ptr<grpc::Server> server_;
};

// The first bytes of a TLS connection: a record's header and some of what it announces.
std::string PartOfHello() { return std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9); }

TEST_F(GrpcTlsTest, KnowsWhoCalls) {
  Serve();
  EXPECT_THAT(Call({.identity_file = ours_.Caller(kAda)}),
              StatusIs(absl::StatusCode::kAborted, HasSubstr(kAda)));
}

TEST_F(GrpcTlsTest, StrangersGetNoFurtherThanTls) {
  Serve();
  std::atomic<int> calls = 0;
  service_.on_call = [&calls](const grpc::GenericCallbackServerContext&) { ++calls; };
  // In clear, by another authority, too early and too late, and by one who was shut out.
  EXPECT_THAT(Call({}), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("TLS")));
  EXPECT_THAT(Call({.identity_file = others_.Caller(kAda)}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("not the server")));
  for (const std::string& file :
       {ours_.Caller(kAda, absl::Now() + absl::Hours(3)),
        ours_.Caller(kAda, absl::Now() - absl::Hours(3)), ours_.Caller(kRevoked)}) {
    EXPECT_THAT(Call({.identity_file = file}),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("revoked")));
  }
  EXPECT_EQ(calls, 0);
}

TEST_F(GrpcTlsTest, ACallerIsNoServer) {
  // Who has joined listens with what he has, and others who have joined call him: an agent, too, is not the server.
  for (const std::string& file : {ours_.Caller(kAda), ours_.Agent(kAda, "board-1")}) {
    WhoService service;
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&service);
    int port = 0;
    builder.AddListeningPort(
        "127.0.0.1:0",
        ServerCredentialsFor(
            ServerFiles::Of(file), [](absl::string_view) { return true; }, true),
        &port);
    const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    ASSERT_NE(server, nullptr);
    const std::string address = absl::StrCat("127.0.0.1:", port);
    Calls calls(address, {.identity_file = ours_.Caller("00000000000000ab")});
    EXPECT_THAT(CallBy(calls),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("not the server")));
    server->Shutdown(std::chrono::system_clock::now());
  }
}

// Two authorities, each with a certificate of the server's own.
class GivenTlsTest : public GrpcTlsTest {
 protected:
  void SetUp() override {
    by_other_names_ = ServerCredentialsFor(
        {.certificate = server_, .key = server_, .authorities = authority_},
        [](absl::string_view uri) { return uri == "urn:slipway:user:ada"; },
        /*takes_tokens=*/false);
    Serve();
  }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = JoinPath(folder_.path(), name);
    EXPECT_OK(WriteFileAtomically(path, text, /*durable=*/false, 0600));
    return path;
  }
  absl::Status CallAs(const std::string& names) const {
    return Call({.identity_file = Write("caller.pem", company_.Certificate(names)),
                 .authority_file = authority_});
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("given");
  const slipway::testing::Company company_;
  const std::string authority_ = Write("company.pem", company_.authority());
  const std::string server_ = Write("server.pem", company_.Certificate("IP:127.0.0.1"));
};

TEST_F(GivenTlsTest, EachAuthorityVouchesForItsOwn) {
  EXPECT_THAT(CallAs("URI:urn:slipway:user:ada"),
              StatusIs(absl::StatusCode::kAborted,
                       HasSubstr(GivenIdentityOfUri("urn:slipway:user:ada")->id())));
  // Who has joined goes on as before, and nobody is somebody else by the other authority.
  EXPECT_THAT(Call({.identity_file = ours_.Caller(kAda)}),
              StatusIs(absl::StatusCode::kAborted, HasSubstr(kAda)));
  for (const std::string& names :
       {"URI:" + IdentityUri(kAda), "URI:urn:slipway:user:ada,URI:" + IdentityUri(kAda),
        std::string("URI:urn:slipway:admin:ada"), std::string("DNS:ada"),
        std::string("URI:https://ada.example")}) {
    EXPECT_THAT(CallAs(names), StatusIs(absl::StatusCode::kUnavailable)) << names;
  }
  EXPECT_THAT(Call({.identity_file = ours_.Caller(kAda), .authority_file = authority_}),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(GivenTlsTest, TheServerIsKnownByItsAddress) {
  const std::string caller = Write("caller.pem", company_.Certificate("URI:urn:slipway:user:ada"));
  Write("server.pem", company_.Certificate("IP:127.0.0.2,DNS:slipway-server"));
  const absl::Time end = absl::Now() + absl::Minutes(1);
  absl::Status status;
  // The server reads its files anew.
  do {
    status = Call({.identity_file = caller, .authority_file = authority_});
  } while (absl::IsAborted(status) && absl::Now() < end);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("not the server")));
  const slipway::testing::Company other;
  EXPECT_THAT(
      Call({.identity_file = caller, .authority_file = Write("other.pem", other.authority())}),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("not the server")));
}

TEST_F(GrpcTlsTest, TokensNeedNoCertificateWhereTheyAreTaken) {
  Serve({}, /*takes_tokens=*/true);
  EXPECT_THAT(Call({.identity_file = ours_.Caller(kAda)}),
              StatusIs(absl::StatusCode::kAborted, HasSubstr(kAda)));
  EXPECT_THAT(Call({.identity_file = ours_.Caller(kRevoked)}),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Call({.authority = ours_.authority().certificate(), .token = "a token"}),
              StatusIs(absl::StatusCode::kAborted, "you are "));
  EXPECT_THAT(Call({.authority = others_.authority().certificate(), .token = "a token"}),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(GrpcTlsTest, TokensAreNoUseWhereTheyAreNotTaken) {
  Serve();
  EXPECT_THAT(Call({.authority = ours_.authority().certificate(), .token = "a token"}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("does not take the token")));
}

TEST_F(GrpcTlsTest, WhatDoesNotBeginAsTlsIsClosed) {
  Serve();
  const UniqueFd fd = Connect();
  const std::string http = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  ASSERT_EQ(send(fd.get(), http.data(), http.size(), 0), static_cast<ssize_t>(http.size()));
  EXPECT_TRUE(IsClosed(fd));
}

TEST_F(GrpcTlsTest, WhoStopsInTheMiddleOfHisGreetingIsClosed) {
  Serve({.silence = absl::Milliseconds(50)});
  const UniqueFd fd = Connect();
  const std::string part = PartOfHello();
  ASSERT_EQ(send(fd.get(), part.data(), part.size(), 0), static_cast<ssize_t>(part.size()));
  EXPECT_TRUE(IsClosed(fd));
  // Whoever leaves in the middle is forgotten at once, too.
  {
    const UniqueFd leaves = Connect();
    (void)!send(leaves.get(), part.data(), part.size(), 0);
  }
  EXPECT_THAT(Call({.identity_file = ours_.Caller(kAda)}), StatusIs(absl::StatusCode::kAborted));
}

TEST_F(GrpcTlsTest, ConnectionsThatNobodyProvesAreEnded) {
  proves_ = false;
  Serve({.proof = absl::Milliseconds(300)});
  Calls calls(listener_->address(), {.identity_file = ours_.Caller(kAda)});
  ASSERT_THAT(CallBy(calls), StatusIs(absl::StatusCode::kAborted));
  // The connection is idle, and goes.
  const auto until = std::chrono::system_clock::now() + std::chrono::milliseconds(kPatienceMillis);
  EXPECT_TRUE(calls.channel()->WaitForStateChange(GRPC_CHANNEL_READY, until));
}

TEST_F(GrpcTlsTest, ConnectionsThatAreProvenStay) {
  Serve({.proof = absl::Milliseconds(50)});
  Calls calls(listener_->address(), {.identity_file = ours_.Caller(kAda)});
  ASSERT_THAT(CallBy(calls), StatusIs(absl::StatusCode::kAborted));
  const auto soon = std::chrono::system_clock::now() + std::chrono::milliseconds(300);
  EXPECT_FALSE(calls.channel()->WaitForStateChange(GRPC_CHANNEL_READY, soon));
}

TEST_F(GrpcTlsTest, TheFirstUnprovenOneGivesWay) {
  proves_ = false;
  Serve({.most_unproven = 1});
  Calls first(listener_->address(), {.identity_file = ours_.Caller(kAda)});
  ASSERT_THAT(CallBy(first), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(Call({.identity_file = ours_.Caller(kAda)}), StatusIs(absl::StatusCode::kAborted));
  const auto until = std::chrono::system_clock::now() + std::chrono::milliseconds(kPatienceMillis);
  EXPECT_TRUE(first.channel()->WaitForStateChange(GRPC_CHANNEL_READY, until));
}

TEST_F(GrpcTlsTest, ConnectionsOfThoseWhoMayNotStayAreEnded) {
  constexpr char kBen[] = "00000000000000be";
  std::atomic<bool> is_ada_welcome = true;
  Serve({.may_stay = [&](absl::string_view id) { return is_ada_welcome || id != kAda; }});
  Calls ada(listener_->address(), {.identity_file = ours_.Caller(kAda)});
  Calls ben(listener_->address(), {.identity_file = ours_.Caller(kBen)});
  ASSERT_THAT(CallBy(ada), StatusIs(absl::StatusCode::kAborted));
  ASSERT_THAT(CallBy(ben), StatusIs(absl::StatusCode::kAborted));
  is_ada_welcome = false;
  listener_->EndUnwelcome(absl::ZeroDuration());
  const auto until = std::chrono::system_clock::now() + std::chrono::milliseconds(kPatienceMillis);
  EXPECT_TRUE(ada.channel()->WaitForStateChange(GRPC_CHANNEL_READY, until));
  EXPECT_EQ(ben.channel()->GetState(false), GRPC_CHANNEL_READY);
  EXPECT_THAT(CallBy(ben), StatusIs(absl::StatusCode::kAborted));
}

TEST_F(GrpcTlsTest, ManyConnectionsComeAndGo) {
  std::atomic<int> asked = 0;
  Serve({.may_stay = [&](absl::string_view) {
    ++asked;
    return true;
  }});
  const std::string file = ours_.Caller(kAda);
  for (int i = 0; i < 200; ++i) {
    ASSERT_THAT(Call({.identity_file = file}), StatusIs(absl::StatusCode::kAborted));
  }
  Calls stays(listener_->address(), {.identity_file = file});
  ASSERT_THAT(CallBy(stays), StatusIs(absl::StatusCode::kAborted));
  // Those that were closed are not kept.
  listener_->EndUnwelcome(absl::ZeroDuration());
  for (int i = 0; i < 1000 && asked == 0; ++i) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_GE(asked, 1);
  EXPECT_LT(asked, 100);
}

TEST_F(GrpcTlsTest, ConnectionsOfOneIdentityAreLimited) {
  constexpr char kBen[] = "00000000000000be";
  Serve({.most_of_identity = 2});
  const std::string file = ours_.Caller(kAda);
  Calls first(listener_->address(), {.identity_file = file});
  {
    Calls second(listener_->address(), {.identity_file = file});
    Calls third(listener_->address(), {.identity_file = file});
    ASSERT_THAT(CallBy(first), StatusIs(absl::StatusCode::kAborted));
    ASSERT_THAT(CallBy(second), StatusIs(absl::StatusCode::kAborted));
    EXPECT_OK(let_in_);
    ASSERT_THAT(CallBy(third), StatusIs(absl::StatusCode::kAborted));
    EXPECT_THAT(let_in_,
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("2 connections")));
    const auto until =
        std::chrono::system_clock::now() + std::chrono::milliseconds(kPatienceMillis);
    EXPECT_TRUE(third.channel()->WaitForStateChange(GRPC_CHANNEL_READY, until));
    ASSERT_THAT(Call({.identity_file = ours_.Caller(kBen)}), StatusIs(absl::StatusCode::kAborted));
    EXPECT_OK(let_in_);
  }
  // Those that have closed make room; gRPC may take a moment to.
  for (int i = 0; i < 1000; ++i) {
    ASSERT_THAT(Call({.identity_file = file}), StatusIs(absl::StatusCode::kAborted));
    if (let_in_.ok()) break;
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_OK(let_in_);
  EXPECT_EQ(first.channel()->GetState(false), GRPC_CHANNEL_READY);
}

TEST_F(GrpcTlsTest, CallsAreCountedByConnection) {
  Serve();
  const std::string file = ours_.Caller(kAda);
  Calls ada(listener_->address(), {.identity_file = file});
  for (int i = 0; i < 3; ++i) ASSERT_THAT(CallBy(ada), StatusIs(absl::StatusCode::kAborted));
  EXPECT_GE(CallsInVain(CountedServers()), 3);
  ASSERT_OK_AND_ASSIGN(const Identity identity, ReadIdentity(file));
  std::vector<SocketCalls> hers;
  // A call counts as open until gRPC has let go of all that it held for it.
  for (int i = 0; i < 1000 && (hers.size() != 1 || hers.front().open > 0); ++i) {
    hers.clear();
    for (SocketCalls& calls : ReadSocketCalls()) {
      if (calls.certificate == identity.certificate) hers.push_back(std::move(calls));
    }
    absl::SleepFor(absl::Milliseconds(1));
  }
  ASSERT_EQ(hers.size(), 1);
  EXPECT_THAT(hers.front().address, HasSubstr("ipv4:127.0.0.1:"));
  EXPECT_EQ(hers.front().open, 0);
  // An error is an answer, too.
  EXPECT_EQ(hers.front().broken_off, 0);
}

class JoinDoorTest : public GrpcTlsTest {
 protected:
  void Open(JoinDoorOptions options = {}) {
    options.identity_file = ours_.Server();
    ASSERT_OK_AND_ASSIGN(
        door_, JoinDoor::Open(options, [this](absl::string_view request, absl::string_view peer) {
          ++requests_;
          EXPECT_THAT(std::string(peer), HasSubstr("127.0.0.1:"));
          return "you said " + std::string(request);
        }));
    Serve({.on_join = [this](UniqueFd fd, std::string peer) {
      door_->Take(std::move(fd), std::move(peer));
    }});
  }
  ~JoinDoorTest() override {
    if (listener_ != nullptr) listener_->Stop();
  }

  absl::StatusOr<JoinDoorAnswer> Knock(const TestIdentities& whose,
                                       const std::string& request) const {
    const Digest fingerprint = *FingerprintOf(whose.authority().certificate());
    return KnockAtJoinDoor(listener_->address(), AuthorityText(fingerprint), request,
                           absl::Now() + absl::Seconds(20));
  }

  std::atomic<int> requests_ = 0;
  std::unique_ptr<JoinDoor> door_;
};

TEST_F(JoinDoorTest, AnswersOneRequest) {
  Open();
  for (const std::string& request : {std::string("hello"), std::string(16'000, 'x')}) {
    ASSERT_OK_AND_ASSIGN(const JoinDoorAnswer answer, Knock(ours_, request));
    EXPECT_EQ(answer.answer, "you said " + request);
    EXPECT_EQ(answer.authority, ours_.authority().certificate());
  }
  // Calls pass it by.
  EXPECT_THAT(Call({.identity_file = ours_.Caller(kAda)}), StatusIs(absl::StatusCode::kAborted));
}

TEST_F(JoinDoorTest, TellsTheAuthorityToWhoAsksForNothing) {
  Open();
  ASSERT_OK_AND_ASSIGN(const JoinDoorAnswer answer, Knock(ours_, ""));
  EXPECT_EQ(answer.answer, "");
  EXPECT_EQ(answer.authority, ours_.authority().certificate());
  EXPECT_EQ(requests_, 0);
}

TEST_F(JoinDoorTest, NothingIsSentToAnotherServer) {
  Open();
  EXPECT_THAT(Knock(others_, "my secret"),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("nothing was sent")));
  EXPECT_EQ(requests_, 0);
}

TEST_F(JoinDoorTest, WhatIsTooLongIsNotTaken) {
  Open();
  EXPECT_THAT(Knock(ours_, std::string((16 << 10) + 1, 'x')),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(requests_, 0);
}

std::string ProxyHeader(absl::string_view source) {
  return absl::StrCat(absl::string_view("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", 16), source,
                      absl::string_view("\1\1\1\1\1\2\1\2", 8));
}

TEST_F(GrpcTlsTest, ProxiesAreBelievedWhereTheyConnectAndNowhereElse) {
  Serve({.proxied_address = "127.0.0.1:0", .proxies = {MachineOf("127.0.0.2")}});
  const auto connect_as = [](uint32_t from, const std::string& to) {
    int port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(to.substr(to.rfind(':') + 1), &port));
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(from);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(static_cast<uint16_t>(port));
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    return fd;
  };
  const auto send_to = [](const UniqueFd& fd, const std::string& bytes) {
    send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  };
  const uint32_t proxy = 0x7f000002;
  const uint32_t other = 0x7f000003;
  const std::string header = ProxyHeader("\x0a\1\2\3");
  // Who is none of them, the header where others connect, and a proxy that says nothing of the kind.
  const UniqueFd stranger = connect_as(other, listener_->proxied_address());
  EXPECT_TRUE(IsClosed(stranger));
  const UniqueFd elsewhere = connect_as(proxy, listener_->address());
  send_to(elsewhere, header + PartOfHello());
  EXPECT_TRUE(IsClosed(elsewhere));
  const UniqueFd plain = connect_as(proxy, listener_->proxied_address());
  send_to(plain, PartOfHello());
  EXPECT_TRUE(IsClosed(plain));
  // What follows the header must begin as TLS does.
  const UniqueFd good = connect_as(proxy, listener_->proxied_address());
  send_to(good, header.substr(0, 10));
  send_to(good, header.substr(10) + PartOfHello());
  EXPECT_FALSE(IsClosed(good, 200));
  send_to(good, std::string(600, 'x'));
  EXPECT_TRUE(IsClosed(good));
}

TEST_F(JoinDoorTest, ThoseWhoWaitOnTheThresholdDoNotHoldOthersUp) {
  Open({.most = 4, .patience = absl::Seconds(60)});
  std::vector<UniqueFd> waiting;
  for (int i = 0; i < 10; ++i) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    door_->Take(UniqueFd(fds[0]), "");
    waiting.emplace_back(fds[1]);
  }
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(IsClosed(waiting[static_cast<size_t>(i)])) << i;
  EXPECT_OK(Knock(ours_, "hello"));
}

TEST_F(JoinDoorTest, PatienceEnds) {
  Open({.patience = absl::Milliseconds(50)});
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
  const UniqueFd waits(fds[1]);
  door_->Take(UniqueFd(fds[0]), "");
  EXPECT_TRUE(IsClosed(waits));
}

}  // namespace
}  // namespace slipway
