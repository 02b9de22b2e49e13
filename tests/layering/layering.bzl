"""layering_test: checks the dependencies of targets against layers.bzl."""

load("//tests/layering:layers.bzl", "LAYERS", "closure")

def _table_impl(ctx):
    table = {}
    for folder in LAYERS:
        allowed = closure(folder)
        table[folder] = {
            "folders": allowed.folders,
            "libraries": allowed.linked,
        }
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode_indent(table))
    return [DefaultInfo(
        files = depset([output]),
        runfiles = ctx.runfiles([output]),
    )]

layering_table = rule(
    doc = "Writes what each folder may see, closed transitively, as JSON.",
    implementation = _table_impl,
)

def layering_test(name, targets, root = "", expected_violation = "", **kwargs):
    """Checks every dependency below `targets` against the table.

    Args:
      name: the test.
      targets: binaries and libraries, with all that they depend on.
      root: a folder that stands for the workspace (for fixtures).
      expected_violation: if given, the test passes only if the check fails
        and its message contains this.
      **kwargs: passed to sh_test.
    """
    native.genquery(
        name = name + "_graph",
        testonly = True,
        expression = "deps(set(%s))" % " ".join(targets),
        opts = [
            "--output=graph",
            "--nograph:factored",
            "--noimplicit_deps",
            "--notool_deps",
        ],
        scope = targets,
    )
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["check_layering_test.sh"],
        args = [
            "$(location check_layering.py)",
            "$(location :table)",
            "$(location :%s_graph)" % name,
            "'%s'" % root,
            "'%s'" % expected_violation,
        ],
        data = [
            "check_layering.py",
            ":table",
            ":%s_graph" % name,
        ],
        **kwargs
    )
