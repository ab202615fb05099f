"""OpenStack Swift as an S3 server in one process: proxy with s3api, and one account, container and object server.

Usage: serve.py FOLDER MEMCACHED_PORT. Prints "listening PORT". What was stored stays in FOLDER for the next start.
"""

import os
import sys

import eventlet

eventlet.monkey_patch()

import eventlet.wsgi
from swift.common.ring import RingBuilder
from swift.common.wsgi import loadapp

folder, memcached = sys.argv[1], sys.argv[2]
port_file = os.path.join(folder, 'ports')
KINDS = ('object', 'container', 'account')


def listen(port):
    return eventlet.listen(('127.0.0.1', port))


def conf(name, text):
    path = os.path.join(folder, name + '.conf')
    with open(path, 'w') as file:
        file.write(text)
    return path


def storage(kind):
    return f"""[DEFAULT]
devices = {folder}/devices
mount_check = false
swift_dir = {folder}
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


PROXY = f"""[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors cache listing_formats s3api tempauth bulk slo dlo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{memcached}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
min_segment_size = 1
check_bucket_owner = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
user_test_reader = reading
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
min_segment_size = 1
[filter:dlo]
use = egg:swift#dlo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
"""

known = []
if os.path.exists(port_file):
    with open(port_file) as file:
        known = [int(port) for port in file.read().split()]
sockets = [listen(port) for port in (known or [0, 0, 0, 0])]
ports = [socket.getsockname()[1] for socket in sockets]
os.makedirs(os.path.join(folder, 'devices', 'd1'), exist_ok=True)
if not known:
    for kind, port in zip(KINDS, ports):
        builder = RingBuilder(4, 1, 1)
        builder.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': port, 'device': 'd1', 'weight': 1})
        builder.rebalance()
        builder.get_ring().save(os.path.join(folder, kind + '.ring.gz'))
    with open(port_file, 'w') as file:
        file.write(' '.join(str(port) for port in ports))

apps = [loadapp(conf(kind, storage(kind))) for kind in KINDS] + [loadapp(conf('proxy', PROXY))]
for socket, app in zip(sockets, apps):
    eventlet.spawn(eventlet.wsgi.server, socket, app, open(os.devnull, 'w'), max_size=200)
print('listening', ports[3], flush=True)
eventlet.sleep(86400)
