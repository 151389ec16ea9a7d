import Files
import ManagedModel
import ManagedStore
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Commands

/// Flags of the mirroring's tables besides those of records, which `CloudKitCommandTests` has: each in every state.
@Suite("Flags of mirroring to CloudKit")
struct CloudKitFlagTests {
  typealias Sample = CloudKitSamples

  private static func changed(
    _ form: Sample.Form, _ change: (Connection) throws -> Void
  ) throws -> (folder: TemporaryFolder, path: String) {
    let folder = try TemporaryFolder()
    let path = try Sample.store(in: folder, form)
    let connection = try Connection(path: path, mode: .readWrite)
    try change(connection)
    connection.close()
    return (folder, path)
  }

  @Test("each need of a zone has its words, set, not set and NULL", arguments: Sample.Form.allCases)
  func zones(form: Sample.Form) throws {
    let needs = [
      ("ZNEEDSIMPORT", "import"),
      ("ZNEEDSRECOVERYFROMIDENTITYLOSS", "recovery from the loss of the account"),
      ("ZNEEDSRECOVERYFROMUSERPURGE", "recovery from a purge by the person"),
      ("ZNEEDSRECOVERYFROMZONEDELETE", "recovery from the deletion of the zone"),
      ("ZNEEDSSHAREDELETE", "deletion of the share"), ("ZNEEDSSHAREUPDATE", "update of the share"),
      ("ZNEEDSNEWSHAREINVITATION", "a new invitation to the share"),
    ]
    for (column, words) in needs {
      // Frameworks before the one of model 16 have no such column.
      if column == "ZNEEDSNEWSHAREINVITATION", ![.model16, .later].contains(form) { continue }
      for (value, isSet) in [("1", true), ("0", false), ("NULL", false)] {
        let (folder, path) = try Self.changed(form) {
          try $0.execute(
            "UPDATE ANSCKRECORDZONEMETADATA SET ZNEEDSIMPORT = 0; UPDATE ANSCKRECORDZONEMETADATA SET \(column) = \(value)"
          )
        }
        try withExtendedLifetime(folder) {
          let state = try #require(try Store(path: path).cloudKitState())
          #expect(state.zones.map(\.needs) == [isSet ? [words] : []], "\(column) \(value)")
          #expect(Captured("cloudkit", path).flat.contains("! " + words) == isSet)
        }
      }
    }
  }

  @Test("links are to be uploaded, to be deleted, or at rest, in every state of both flags")
  func links() throws {
    for uploaded in ["0", "1", "NULL"] {
      for deleted in ["0", "1", "NULL"] {
        for pending in ["0", "1", "NULL"] {
          let (folder, path) = try Self.changed(.model16) {
            try $0.execute(
              """
              DELETE FROM ANSCKMIRROREDRELATIONSHIP;
              INSERT INTO ANSCKMIRROREDRELATIONSHIP (ZISUPLOADED, ZNEEDSDELETE, ZISPENDING)
              VALUES (\(uploaded), \(deleted), \(pending))
              """)
          }
          try withExtendedLifetime(folder) {
            let backlog = try #require(try Store(path: path).cloudKit())
            #expect(backlog.pendingLinkDeletes == (deleted == "1" ? 1 : 0))
            #expect(backlog.pendingLinks == (uploaded != "1" && deleted != "1" ? 1 : 0))
          }
        }
      }
    }
  }

  @Test("a run of each kind that succeeded, failed, runs, or is of a number that none has")
  func runs() throws {
    let (folder, path) = try Self.changed(.later) { connection in
      try connection.execute("DELETE FROM ANSCKEVENT")
      var start = 100
      for kind in 0...3 {
        for (succeeded, end, code, domain) in [
          ("1", "start + 1", "0", "NULL"), ("0", "start + 1", "2", "'CKErrorDomain'"),
          ("0", "start + 1", "134060", "'NSCocoaErrorDomain'"), ("0", "start + 1", "7", "NULL"),
          ("0", "start + 1", "NULL", "NULL"), ("0", "NULL", "NULL", "NULL"),
          ("NULL", "NULL", "NULL", "NULL"),
        ] {
          try connection.execute(
            """
            INSERT INTO ANSCKEVENT (ZCLOUDKITEVENTTYPE, ZSTARTEDAT, ZENDEDAT, ZSUCCEEDED, ZERRORCODE, ZERRORDOMAIN)
            SELECT \(kind), start, \(end), \(succeeded), \(code), \(domain) FROM (SELECT \(start) start)
            """)
          start += 10
        }
      }
    }
    try withExtendedLifetime(folder) {
      let events = try #require(try Store(path: path).cloudKitState()).events
      #expect(events.count == 28)
      for (index, event) in events.reversed().enumerated() {
        let kinds: [CloudKitState.Event.Kind?] = [.setup, .import, .export, nil]
        #expect(event.kind == kinds[index / 7])
        #expect(event.succeeded == (index % 7 == 0))
        #expect((event.end == nil) == (index % 7 >= 5))
        #expect(
          event.error
            == [nil, "CKErrorDomain 2", "NSCocoaErrorDomain 134060", "error 7", nil, nil, nil][
              index % 7])
      }
      let shown = Captured("cloudkit", path, "--runs", "28").out
      for words in [
        "CKError.partialFailure", "succeeded", "failed: error 7",
        "did not end: running, or cut off",
        "unknown",
      ] { #expect(shown.contains(words), "\(words)") }
    }
  }

  @Test("flags of records that are NULL, or whose columns a framework lacks, are not set")
  func missingFlags() throws {
    for column in ["ZNEEDSUPLOAD", "ZNEEDSCLOUDDELETE", "ZNEEDSLOCALDELETE"] {
      for change in [
        "UPDATE ANSCKRECORDMETADATA SET \(column) = NULL",
        "ALTER TABLE ANSCKRECORDMETADATA DROP COLUMN \(column)",
      ] {
        let (folder, path) = try Self.changed(.model16) { try $0.execute(change) }
        try withExtendedLifetime(folder) {
          let backlog = try #require(try Store(path: path).cloudKit())
          let flags = Sample.Case.all.compactMap(\.flags).map { flags in
            (
              upload: flags[0] && column != "ZNEEDSUPLOAD",
              delete: flags[1] && column != "ZNEEDSCLOUDDELETE"
            )
          }
          #expect(backlog.pendingUploads == flags.count { $0.upload && !$0.delete }, "\(change)")
          #expect(backlog.pendingDeletes == flags.count { $0.upload && $0.delete }, "\(change)")
          #expect(Captured("cloudkit", path, "--objects").status == .done)
        }
      }
    }
  }

  @Test("a record without a name waits for its first export; that it has a record is said")
  func unnamed() throws {
    let folder = try TemporaryFolder()
    let path = try Sample.store(in: folder, .later)
    let all = Sample.Case.all.enumerated().filter { $1.flags != nil && !$1.isNamed }
    let quiet = all.filter { $1.state == "neverExported" }
    #expect(quiet.count == 4)
    let backlog = try #require(try Store(path: path).cloudKit())
    #expect(backlog.unnamedRecords == all.count { $1.flags?[0] == false })
    let shown = Captured("cloudkit", path, "--state", "neverExported", "--limit", "all")
    #expect(shown.flat.contains("records without a name, which wait for their first export"))
    for (index, one) in quiet where one.exists {
      let id = "\(index % 2 == 0 ? "Base" : "Thing")/p\(index + 1)"
      let line = shown.lines.first { $0.hasPrefix(id + " ") }
      #expect(line?.contains("its record has no name") == true, "\(id)")
      #expect(Captured("object", path, id).flat.contains("its record has no name"), "\(id)")
    }
    // One without any record is told apart.
    #expect(shown.lines.contains { $0.hasPrefix("Base/p1 ") && $0.contains("no record") })
  }

  @Test(
    "a token of history that cannot be read is said: how much waits is not known",
    arguments: ["garbage", "other", "empty", "none", "null"])
  func token(_ kind: String) throws {
    var archive = KeyedArchiveWriter()
    let entries = archive.dictionary([(archive.string("other"), archive.add(.integer(2)))])
    let root = archive.add(
      class: ["NSPersistentHistoryToken", "NSObject"],
      ["NSPersistentHistoryTokenDictionary": entries])
    let isUnreadable = !["none", "null"].contains(kind)
    let (folder, path) = try Self.changed(.later) { connection in
      let condition = "WHERE ZKEY = 'NSCloudKitMirroringDelegateLastHistoryTokenKey'"
      if kind == "none" {
        try connection.execute("DELETE FROM ANSCKMETADATAENTRY \(condition)")
        return
      }
      let value: Value =
        switch kind {
        case "garbage": .blob([1, 2, 3])
        case "other": .blob(archive.bytes(root: root))
        case "null": .null
        default: .blob([])
        }
      try connection.run(
        "UPDATE ANSCKMETADATAENTRY SET ZTRANSFORMEDVALUE = ? \(condition)", [value])
    }
    try withExtendedLifetime(folder) {
      let backlog = try #require(try Store(path: path).cloudKit())
      #expect(backlog.isTokenUnreadable == isUnreadable)
      // All of history but the mirroring's own.
      #expect(backlog.unanalysedTransactions == 2)
      #expect(Captured("cloudkit", path).flat.contains("cannot be read") == isUnreadable)
      #expect(Captured("info", path).flat.contains("cannot be read") == isUnreadable)
      let json = Captured("cloudkit", path, "--objects", "--json")
      #expect(json.out.contains("\"isUncertain\":true") == isUnreadable)
      #expect(json.out.contains("\"isTokenUnreadable\":\(isUnreadable)"))
      let object = try #require(
        Sample.Case.all.firstIndex { $0.exists && $0.flags == nil && $0.change == .none })
      let shown = Captured("object", path, "Base/p\(object + 1)").flat
      #expect(shown.contains("may not be analysed yet") == isUnreadable, "\(shown)")
    }
  }
}
