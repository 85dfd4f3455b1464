"""Makes schema/dcache/messages.mfidl, a module as wide as dCache's message classes are many.

    python tests/compiler/golden/cpp/messages/make.py

The names are those of dCache's vehicles, or like them; which fields a message has is drawn by its name, so
that it is the same in every run.
"""

import random
from pathlib import Path

HERE = Path(__file__).resolve().parent

HEAD = """// Made by make.py. Do not edit.
/// The messages between doors, pools and the pool manager of a storage system.
module dcache.messages;

type PnfsId = string;
type PoolName = string;

enum PoolMode: u8 { enabled = 0, read_only = 1, disabled = 2, dead = 3 }
enum RetentionPolicy: u8 { replica = 0, output = 1, custodial = 2 }
open enum ChecksumType: u8 { adler32 = 1, md5 = 2, sha256 = 3 }
flags Access: u16 { read, write, create, remove, list, stage, admin = 15 }

struct Timestamps { created: timestamp; modified: timestamp; accessed: timestamp; }
struct Checksum { type: ChecksumType; value: bytes; }
struct CellAddress { cell: string; domain: string; hops: list<string>; }
struct Subject { uid: u32; gids: list<u32>; principals: list<string>; }
struct StorageInfo {
  hsm: string;
  storage_class: string;
  retention: RetentionPolicy;
  locations: list<string>;
  attributes: map<string, string>;
}
struct FileAttributes {
  pnfs_id: PnfsId;
  size: u64;
  access: Access;
  times: Timestamps;
  checksums: list<Checksum>;
  storage: StorageInfo?;
  extended: map<string, bytes>;
}
struct SpaceCost { total: u64; used: u64; precious: u64; removable: u64; lru: duration; }
struct QueueCost { name: string; active: u32; max_active: u32; queued: u32; }
struct PoolCost { space: SpaceCost; queues: list<QueueCost>; load: f64; }
union ProtocolInfo {
  1: http: string;
  2: xrootd: CellAddress;
  3: nfs: list<u32>;
  4: gridftp: PoolCost;
}
/// What every message begins with.
struct Envelope {
  id: u64;
  session: string;
  source: CellAddress;
  subject: Subject;
  return_code: i32;
  failure: string?;
  reply_required: bool;
  ttl: duration = 30s;
}
"""

FIELDS = """
pnfs_id: PnfsId | path: string | pool: PoolName | pools: list<PoolName> | file: FileAttributes
files: list<FileAttributes> | storage: StorageInfo | protocol: ProtocolInfo | cost: PoolCost
mode: PoolMode | checksum: Checksum? | checksums: list<Checksum> | size: u64 | offset: u64 | count: u32
timeout: duration | expires: timestamp? | access: Access | owner: Subject | door: CellAddress
target: CellAddress? | token: uuid | locations: list<string> | attributes: map<string, string>
link_group: string? | priority: i32 = 0 | sticky: bool | precious: bool = false
allow_staging: bool = true | ratio: f64 | pages: list<bytes> | label: string | labels: set<string>
costs: map<string, PoolCost> | window: array<u32, 4> | retention: RetentionPolicy
"""

NAMES = """
PoolAcceptFile PoolCheckFile PoolCheckFreeSpace PoolDeliverFile PoolFetchFile PoolFlushControl
PoolFlushDoFlush PoolFlushGainControl PoolIoFile PoolLinkGroupInfo PoolLinkInfo PoolManagerGetPoolList
PoolManagerGetPoolMonitor PoolManagerPoolMode PoolManagerPoolUp PoolMgrGetPoolByLink
PoolMgrGetPoolByPoolGroup PoolMgrGetPoolLinkGroups PoolMgrGetPoolLinks PoolMgrPoolInfo PoolMgrQueryPools
PoolMgrReplicateFile PoolMgrSelectReadPool PoolMgrSelectWritePool PoolMigrationCancel
PoolMigrationCopyFinished PoolMigrationCopyReplica PoolMigrationPing PoolMigrationUpdateReplica
PoolMigrationJobCancel PoolModifyMode PoolModifyPersistency PoolMoverKill PoolPassiveIoFile
PoolQueryRepository PoolRemoveFiles PoolReplicateFile PoolSetSticky PoolStatusChanged
PoolUpdateCacheStatistics PoolDataRequest PoolHeartbeat PoolCostUpdate PoolTagUpdate PoolInfoRequest
PnfsAddCacheLocation PnfsCancelUpload PnfsClearCacheLocation PnfsCommitUpload PnfsCreateEntry
PnfsCreateUploadPath PnfsDeleteEntry PnfsFlag PnfsGetCacheLocations PnfsGetFileAttributes PnfsGetParent
PnfsListDirectory PnfsListExtendedAttributes PnfsMapPath PnfsReadExtendedAttributes PnfsRemoveChecksum
PnfsRemoveExtendedAttributes PnfsRemoveLabels PnfsRename PnfsSetChecksum PnfsSetFileAttributes PnfsSymLink
PnfsWriteExtendedAttributes PnfsNotifyFlush PnfsGetPath PnfsLookup SpaceReserve SpaceRelease SpaceUse
SpaceGetMetaData SpaceGetTokens SpaceGetFileTokens SpaceExtendLifetime SpaceGetLinkGroupNames
SpaceGetLinkGroups SpaceCancelUse SpaceBind PinPin PinUnpin PinExtend PinCount PinList PinMovePin
PinRequestsFinished PinStageStatus MoverInfo DoorRequestInfo DoorTransferFinished DoorValidate
StorageInfoNotice RemoveFileInfo WarningPnfsFileInfo PoolHitInfo FlushInfo RestoreInfo BillingRecord
LoginRequest LoginReply MapRequest ReverseMapRequest TokenIntrospection RemoteTransferStart
RemoteTransferCancel RemoteTransferStatus TransferManagerQuery TransferComplete TransferFailed
TransferProgress SrmPing SrmPrepareToGet SrmPrepareToPut SrmReleaseFiles SrmBringOnline SrmAbortRequest
SrmStatusOfGet SrmStatusOfPut SrmLs SrmMkdir SrmRmdir SrmRm SrmMv SrmCheckPermission SrmCopy BulkRequest
BulkStatus BulkCancel BulkDelete BulkTargets BulkArchive ReplicaVerify ReplicaAdjust ReplicaRemove
ReplicaState ResilienceScan ResilienceCancel QosTransition QosQuery QosModify QosBackLog MissingFile
CleanerRequest CleanerStatus CleanerHold HsmStore HsmRestore HsmRemove NearlineRequest NearlineStatus
TapeRecallSchedule ZoneUpdate CellHello CellRoute CellTunnel TopologyQuery WebdavLock WebdavUnlock
EventSubscribe
"""


def main() -> None:
    fields = [each.strip() for line in FIELDS.strip().splitlines() for each in line.split("|")]
    names = NAMES.split()
    assert len(names) == len(set(names))
    parts = [HEAD]
    for name in names:
        chosen = random.Random(name).sample(fields, k=random.Random(name[::-1]).randint(3, 10))
        lines = "".join(f"  {field};\n" for field in sorted(chosen, key=fields.index))
        parts.append(f"struct {name}Message {{\n  envelope: Envelope;\n{lines}}}\n")
    text = "\n".join(parts)
    count = text.count("\nstruct ")
    assert count >= 160, count
    (HERE / "schema/dcache/messages.mfidl").write_text(text)


if __name__ == "__main__":
    main()
