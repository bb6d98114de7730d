# SPDX-License-Identifier: BSD-3-Clause
"""Two emulated machines with RDMA between them, on a machine that has none: MPI over verbs, in slow motion.

    lab.py          the interface: up, down, load, status, execute, counters
    lab_settings.py what they are asked to be, and the variables with which an MPI takes the verbs
    lab_folder.py   where their files are
    fetch.py        Debian's packages of the guests and of QEMU, unpacked (harness.base.debian)
    image.py        what the guests boot from: initrd, root image, keys; needs no root
    guest_build.py  engine and workloads, built for the guests' MPIs in the guests' own root
    keeper.py       QEMU's command line, and the process that both machines are children of: they end with it
    guest/          what runs in the guests before anything else does
    attend.py       runs a command on a guest from a job on this machine
    reap_guests.py  kills what a dead launch left on the guests

Standard library only. Everything is made below the state folder; nothing is installed.
"""
