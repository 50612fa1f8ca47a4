"""Buffer, PFC, ECN and scheduler settings of SONiC switches: written from a scenario, and read back.

Formats: SONiC's YANG models (sonic-net/sonic-buildimage, `src/sonic-yang-models/yang-models`: `sonic-buffer-pool`,
`-buffer-profile`, `-buffer-pg`, `-buffer-queue`, `-wred-profile`, `-queue`, `-scheduler`, `-port-qos-map`, `-pfcwd`,
`-cable-length`) and the reader of `pg_profile_lookup.ini` (sonic-net/sonic-swss, `cfgmgr/buffermgr.cpp`).
"""
