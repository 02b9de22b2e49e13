// HeldHandles: what a session's runner holds, as far as its answers tell, so that what was lost with it can be named.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_HELD_HANDLES_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_HELD_HANDLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "core/artifact/program_steps.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// Not thread-safe.
class HeldHandles {
 public:
  // Of any request, carried out or not.
  void NoteNew(const v1::SessionRequest& request);
  // Above all handles that requests made, or tried to.
  uint64_t next() const { return next_; }
  // After a request that was carried out.
  void Note(const v1::SessionRequest& request);
  // After a program was loaded, whose steps messages may name.
  void NoteSteps(uint64_t program, std::vector<StepInfo> steps);

  // Puts names to what a runner lists.
  void PutNames(v1::SessionResponse::Listed& listed) const;

  // The runner is gone, and `why` with it. Tells how many programs and tensors it held.
  std::string Lose(const std::string& why);

  // Why a request fails that names a handle which was lost; OK if it names none.
  absl::Status CheckLost(const v1::SessionRequest& request) const;

  // "step 3 'Conv stem', kernel 2 of code 0, of program "net"": where a call stood. Either number may be wrong.
  std::string Describe(uint64_t program, uint32_t step) const;

 private:
  struct Held {
    bool is_program = false;
    std::string name;
    std::vector<StepInfo> steps;
  };
  struct Lost {
    Held held;
    std::string why;
  };
  static std::string Shown(uint64_t handle, const Held& held);

  uint64_t next_ = 1;
  absl::flat_hash_map<uint64_t, Held> held_;
  absl::flat_hash_map<uint64_t, Lost> lost_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_HELD_HANDLES_H_
