/* What a hostile program tries, in the order of its kernels: a name, and what it is called in messages. Read by the program, in
 * C, and by the tests. */
#ifndef SLIPWAY_TESTS_SECURITY_ESCAPES_H_
#define SLIPWAY_TESTS_SECURITY_ESCAPES_H_

#define SLIPWAY_ESCAPES(X)                                             \
  X(open_file, "opens a file of the system")                           \
  X(open_memory, "opens its own memory to write, past its protection") \
  X(open_process, "opens what another process was told")               \
  X(list_folder, "lists a folder")                                     \
  X(make_file, "makes a file")                                         \
  X(remove_file, "removes a file")                                     \
  X(change_file, "changes who may read a file")                        \
  X(make_socket, "makes a socket")                                     \
  X(connect_out, "connects to a port of this machine")                 \
  X(make_pair, "makes sockets, over which descriptors travel")         \
  X(start_process, "starts a process")                                 \
  X(start_process_hidden, "starts a process by the newest call")       \
  X(run_file, "runs a file")                                           \
  X(trace_process, "traces another process")                           \
  X(kill_process, "signals another process")                           \
  X(kill_thread, "signals a thread of another process")                \
  X(kill_group, "signals all that it may")                             \
  X(own_by_process, "has a descriptor signal another process")         \
  X(hold_process, "takes hold of another process")                     \
  X(read_memory, "reads another process's memory")                     \
  X(write_memory, "writes another process's memory")                   \
  X(limit_process, "limits another process")                           \
  X(leave_session, "leaves its session, to stay behind")               \
  X(outlive_parent, "wishes not to end with its parent")               \
  X(enter_namespace, "makes a namespace, and is root in it")           \
  X(make_ring, "calls through a ring")                                 \
  X(make_shared_memory, "makes memory that outlives it")               \
  X(load_filter, "gives code to the kernel")                           \
  X(thread_bomb, "starts threads without end")                         \
  X(memory_bomb, "maps memory without end")                            \
  X(file_bomb, "makes files in memory without end")

#endif /* SLIPWAY_TESTS_SECURITY_ESCAPES_H_ */
