#!/usr/bin/env python3
"""Containerfiles and manifests against each other and the binaries they start.

Usage: manifests_test.py BINARY...
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parent.parent
GIVEN = {pathlib.Path(path).name: os.path.abspath(path) for path in sys.argv[1:]}
IMAGES = ['slipwayd', 'slipway-agent']
INSTRUCTIONS = ['FROM', 'RUN', 'COPY', 'USER', 'ENV', 'VOLUME', 'EXPOSE', 'STOPSIGNAL', 'ENTRYPOINT']


def accepts(binary, arguments):
    """Whether the binary takes these flags; it says what it made of them."""
    done = subprocess.run([GIVEN[binary], *arguments, '--print-config'], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout


def instructions(image):
    text = (DEPLOY / f'containers/{image}.Containerfile').read_text()
    text = re.sub(r'(?m)^#.*\n', '', text).replace('\\\n', ' ')
    return [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]


def manifests():
    for file in sorted((DEPLOY / 'kubernetes').glob('*.yaml')):
        for manifest in yaml.safe_load_all(file.read_text()):
            yield file.name, manifest


def configured(unit):
    """The flags of /etc/slipway/UNIT.conf."""
    return ['--config', str(DEPLOY / f'packages/units/{unit}.conf')]


class ContainersTest(unittest.TestCase):

    def test_instructions_are_known_and_the_user_is_a_number(self):
        for image in IMAGES:
            lines = instructions(image)
            self.assertEqual([word for word, _ in lines if word not in INSTRUCTIONS], [])
            self.assertEqual(lines[0][0], 'FROM')
            values = {}
            for word, rest in lines:
                values.setdefault(word, []).append(rest)
            user, group = values['USER'][0].split(':')
            self.assertIn(f'groupadd --gid {group} {image} ', values['RUN'][0])
            self.assertIn(f'useradd --uid {user} --gid {group} ', values['RUN'][0])
            self.assertIn(f'{image}_*_amd64.deb', values['COPY'][0])
            for script in values['RUN']:
                subprocess.run(['sh', '-n', '-c', script], check=True)

    def test_entrypoints_are_calls_that_the_binaries_take(self):
        for image in IMAGES:
            program, *arguments = json.loads(dict(instructions(image))['ENTRYPOINT'])
            self.assertEqual(program, f'/usr/bin/{image}')
            self.assertEqual(arguments[:2], ['--config', f'/etc/slipway/{image}.conf'])
            taken, said = accepts(image, configured(image) + arguments[2:])
            self.assertTrue(taken, said)


class KubernetesTest(unittest.TestCase):

    def test_yamllint_finds_nothing(self):
        rules = ('{extends: default, rules: {line-length: {max: 140}, braces: {max-spaces-inside: 0}}}')
        done = subprocess.run(['yamllint', '--strict', '-d', rules, DEPLOY / 'kubernetes'],
                              check=False, text=True, stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (0, ''))

    def test_every_manifest_says_what_it_is(self):
        names = [(manifest['kind'], manifest['metadata']['name']) for _, manifest in manifests()]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn(('StatefulSet', 'slipwayd'), names)

    def version(self):
        return subprocess.run([GIVEN['slipway'], '--version'], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.split()[1]

    def sets(self):
        return [manifest for _, manifest in manifests() if manifest['kind'] == 'StatefulSet']

    def test_pods_are_closed_and_run_as_the_images_user(self):
        for found in self.sets():
            pod = found['spec']['template']['spec']
            self.assertFalse(pod['automountServiceAccountToken'])
            security = pod['securityContext']
            self.assertTrue(security['runAsNonRoot'])
            for container in pod['containers'] + pod['initContainers']:
                image, version = container['image'].split(':')
                user = dict(instructions(image))['USER']
                self.assertEqual(user, f'{security["runAsUser"]}:{security["runAsGroup"]}')
                self.assertEqual(version, self.version())
                own = container['securityContext']
                self.assertFalse(own['allowPrivilegeEscalation'])
                self.assertTrue(own['readOnlyRootFilesystem'])
                self.assertEqual(own['capabilities'], {'drop': ['ALL']})

    def test_what_is_named_is_there(self):
        everything = {(m['kind'], m['metadata']['name']): m for _, m in manifests()}
        for found in self.sets():
            spec, pod = found['spec'], found['spec']['template']['spec']
            labels = spec['template']['metadata']['labels']
            self.assertLessEqual(spec['selector']['matchLabels'].items(), labels.items())
            volumes = {volume['name'] for volume in pod['volumes']}
            volumes |= {claim['metadata']['name'] for claim in spec.get('volumeClaimTemplates', [])}
            for container in pod['containers'] + pod['initContainers']:
                mounted = {mount['name'] for mount in container['volumeMounts']}
                self.assertLessEqual(mounted, volumes)
                ports = {port['name'] for port in container.get('ports', [])}
                for probe in ('startupProbe', 'readinessProbe', 'livenessProbe'):
                    for how in container.get(probe, {}).values():
                        if isinstance(how, dict):
                            self.assertIn(how['port'], ports)
            for volume in pod['volumes']:
                if 'configMap' in volume:
                    self.assertIn(('ConfigMap', volume['configMap']['name']), everything)
                if 'persistentVolumeClaim' in volume:
                    self.assertIn(('PersistentVolumeClaim',
                                   volume['persistentVolumeClaim']['claimName']), everything)
        service = everything['Service', 'slipwayd']
        pod = everything['StatefulSet', 'slipwayd']['spec']['template']
        self.assertEqual(service['spec']['selector'], pod['metadata']['labels'])
        ports = {port['name'] for port in pod['spec']['containers'][0]['ports']}
        self.assertEqual({port['targetPort'] for port in service['spec']['ports']}, ports)

    def test_flags_and_configuration_are_what_the_binaries_take(self):
        maps = {m['metadata']['name']: m for _, m in manifests() if m['kind'] == 'ConfigMap'}
        for found in self.sets():
            container = found['spec']['template']['spec']['containers'][0]
            program = container['command'][0].removeprefix('/usr/bin/')
            arguments = list(container['args'])
            with tempfile.TemporaryDirectory() as folder:
                if arguments[0] == '--config':
                    name = pathlib.Path(arguments[1]).name
                    file = pathlib.Path(folder) / name
                    file.write_text(maps[program]['data'][name])
                    arguments[1] = str(file)
                taken, said = accepts(program, arguments)
            self.assertTrue(taken, f'{shlex.join(arguments)}: {said}')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
