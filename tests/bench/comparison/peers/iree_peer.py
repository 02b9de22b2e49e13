"""IREE on the CPU: its local task driver with as many workers as threads."""

import iree.compiler
import iree.compiler.version
import iree.runtime
import onnx
from iree.compiler.extras import onnx_importer
from iree.compiler import ir

VERSION = iree.compiler.version.VERSION


def compiled(path):
    model = onnx.shape_inference.infer_shapes(onnx.load(path), data_prop=True)
    model = onnx.version_converter.convert_version(model, max(17, model.opset_import[0].version))
    with ir.Context() as context, ir.Location.unknown():
        imported = onnx_importer.ModelInfo(model)
        module = ir.Module.create()
        onnx_importer.NodeImporter.define_function(imported.main_graph, module.operation).import_all()
        context.allow_unregistered_dialects = True
        text = str(module)
    return iree.compiler.compile_str(
        text, input_type='onnx', target_backends=['llvm-cpu'],
        extra_args=['--iree-llvmcpu-target-cpu=host', '--iree-opt-level=O3'])


class Model:

    def __init__(self, path, inputs, threads, precision):
        if precision == 'bf16':
            raise NotImplementedError('it has no switch that turns f32 into bf16')
        driver = 'local-sync' if threads == 1 else 'local-task'
        if threads > 1:
            iree.runtime.flags.parse_flags(f'--task_topology_group_count={threads}')
        config = iree.runtime.Config(driver)
        context = iree.runtime.SystemContext(config=config)
        module = iree.runtime.VmModule.copy_buffer(context.instance, compiled(path))
        context.add_vm_module(module)
        loaded = context.modules[module.name]
        names = [name for name in module.function_names if '$' not in name and not name.startswith('__')]
        self._function = loaded[names[0]]
        self._inputs = [iree.runtime.asdevicearray(config.device, array) for array in inputs]
        self._made = None
        self.run()

    def run(self):
        self._made = self._function(*self._inputs)

    def outputs(self):
        made = self._made if isinstance(self._made, (tuple, list)) else [self._made]
        return [value.to_host() for value in made]
