"""Debian's static archives, by library."""

# Everything in libabsl-dev but the helpers of its own tests. lld takes only
# the members that are used, so one list serves all.
ABSL_ARCHIVES = [
    "libabsl_bad_any_cast_impl.a",
    "libabsl_bad_optional_access.a",
    "libabsl_bad_variant_access.a",
    "libabsl_base.a",
    "libabsl_city.a",
    "libabsl_civil_time.a",
    "libabsl_cord.a",
    "libabsl_cord_internal.a",
    "libabsl_cordz_functions.a",
    "libabsl_cordz_handle.a",
    "libabsl_cordz_info.a",
    "libabsl_cordz_sample_token.a",
    "libabsl_debugging_internal.a",
    "libabsl_demangle_internal.a",
    "libabsl_examine_stack.a",
    "libabsl_exponential_biased.a",
    "libabsl_failure_signal_handler.a",
    "libabsl_flags_commandlineflag.a",
    "libabsl_flags_commandlineflag_internal.a",
    "libabsl_flags_config.a",
    "libabsl_flags_internal.a",
    "libabsl_flags_marshalling.a",
    "libabsl_flags_parse.a",
    "libabsl_flags_private_handle_accessor.a",
    "libabsl_flags_program_name.a",
    "libabsl_flags_reflection.a",
    "libabsl_flags_usage.a",
    "libabsl_flags_usage_internal.a",
    "libabsl_graphcycles_internal.a",
    "libabsl_hash.a",
    "libabsl_hashtablez_sampler.a",
    "libabsl_int128.a",
    "libabsl_leak_check.a",
    "libabsl_log_severity.a",
    "libabsl_low_level_hash.a",
    "libabsl_malloc_internal.a",
    "libabsl_periodic_sampler.a",
    "libabsl_random_distributions.a",
    "libabsl_random_internal_platform.a",
    "libabsl_random_internal_pool_urbg.a",
    "libabsl_random_internal_randen.a",
    "libabsl_random_internal_randen_hwaes.a",
    "libabsl_random_internal_randen_hwaes_impl.a",
    "libabsl_random_internal_randen_slow.a",
    "libabsl_random_internal_seed_material.a",
    "libabsl_random_seed_gen_exception.a",
    "libabsl_random_seed_sequences.a",
    "libabsl_raw_hash_set.a",
    "libabsl_raw_logging_internal.a",
    "libabsl_scoped_set_env.a",
    "libabsl_spinlock_wait.a",
    "libabsl_stacktrace.a",
    "libabsl_status.a",
    "libabsl_statusor.a",
    "libabsl_str_format_internal.a",
    "libabsl_strerror.a",
    "libabsl_strings.a",
    "libabsl_strings_internal.a",
    "libabsl_symbolize.a",
    "libabsl_synchronization.a",
    "libabsl_throw_delegate.a",
    "libabsl_time.a",
    "libabsl_time_zone.a",
]

PROTOBUF_ARCHIVES = [
    "libprotobuf.a",
    "libz.a",
]

GRPC_ARCHIVES = [
    "libgrpc++.a",
    "libgrpc.a",
    "libgpr.a",
    "libupb.a",
    "libaddress_sorting.a",
    "libre2.a",
    "libcares.a",
    "libssl.a",
    "libcrypto.a",
]

LIBEDIT_ARCHIVES = [
    "libedit.a",
    "libbsd.a",
    "libmd.a",
    "libtinfo.a",
]

def link_archives(archives):
    """Linker flags for static archives (lld needs no order among them)."""
    return ["-l:" + archive for archive in archives]
