"""Starts the four servers of OpenStack Swift in one process: four would import the same modules four times.

Usage: swift-servers.py FOLDER ACCOUNT_PORT CONTAINER_PORT OBJECT_PORT PROXY_PORT, with their configuration in FOLDER/etc.
"""
import os
import sys

import eventlet
from swift.common.ring import RingBuilder
from swift.common.utils import eventlet_monkey_patch, get_hub, set_swift_dir
from swift.common.wsgi import init_request_processor, run_server

folder, *ports = sys.argv[1:]
etc = os.path.join(folder, "etc")
# Without this, it reads /etc/swift/swift.conf, which not every system has.
set_swift_dir(etc)
eventlet.hubs.use_hub(get_hub())
eventlet_monkey_patch()
use_hub = eventlet.hubs.use_hub


def use_hub_once(hub=None):
    """Each server would replace the hub of those before it in its thread."""
    if not hasattr(eventlet.hubs._threadlocal, "hub"):
        use_hub(hub)


eventlet.hubs.use_hub = use_hub_once


def make_ring(name, port):
    """One copy of everything on one device."""
    path = os.path.join(etc, name + ".ring.gz")
    if os.path.exists(path):
        return
    builder = RingBuilder(4, 1, 1)
    builder.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": int(port), "device": "d1", "weight": 1})
    builder.rebalance()
    builder.get_ring().save(path)


def serve(name, port):
    path = os.path.join(etc, name + "-server.conf")
    _app, conf, logger, _name = init_request_processor(path, name + "-server")
    run_server(conf, logger, eventlet.listen(("127.0.0.1", int(port)), backlog=256))


names = ["account", "container", "object", "proxy"]
for name, port in zip(names[:3], ports):
    make_ring(name, port)
eventlet.sleep(0)
for thread in [eventlet.spawn(serve, name, port) for name, port in zip(names, ports)]:
    thread.wait()
