import Files
import ManagedModel
import ManagedStore
import ModelWriting
import SQLite

/// Stores that are mirrored to CloudKit, made by the tables that frameworks keep, with an object or a record for every
/// state of every flag.
package enum CloudKitSamples {
  /// The mirror's own model, which differs from framework to framework.
  package enum Form: String, CaseIterable, Sendable {
    case model8, model15, model16, later

    /// The entity number of records, which are counted from 17001 in name order.
    var recordNumber: Int { self == .later ? 17012 : self == .model8 ? 17009 : 17010 }
  }

  /// What is known of one object.
  package struct Case: Sendable {
    /// The flags of its record: needsUpload, needsCloudDelete, needsLocalDelete; `nil` without a record.
    package var flags: [Bool]?
    /// Whether the record has a name.
    package var isNamed = true
    /// Whether the object is in the store.
    package var exists = true
    /// What of it is after the token: nothing, a change in history, or a change that was analysed.
    package var change = Change.none

    package enum Change: CaseIterable, Sendable { case none, inHistory, analysed }

    /// The state, by the rules of the mirroring.
    package var state: String {
      let (upload, delete) = (flags?[0] ?? false, flags?[1] ?? false)
      if upload { return delete ? "pendingDelete" : "pendingUpload" }
      if change != .none { return "unanalysed" }
      return flags != nil && isNamed ? "synced" : "neverExported"
    }

    package static let all: [Case] = {
      var all: [Case] = []
      for change in Change.allCases {
        all.append(Case(flags: nil, change: change))
        for number in 0..<8 {
          let flags = [number & 1 != 0, number & 2 != 0, number & 4 != 0]
          all.append(Case(flags: flags, change: change))
          all.append(Case(flags: flags, isNamed: false, change: change))
          all.append(Case(flags: flags, exists: false, change: change))
        }
      }
      return all
    }()
  }

  package static let uuid = "6B29FC40-CA47-4067-B31D-00DD010662DA"
  package static let token: Int64 = 5

  package static func model() throws -> Model {
    var base = Entity("Base")
    base.attributes = [Attribute("title", .string, optional: true)]
    var thing = Entity("Thing", parent: "Base")
    thing.attributes = [Attribute("size", .integer64, optional: true)]
    return try Model(entities: [base, thing])
  }

  /// Makes a store; the object or record with key n is of case n - 1, of the entity Thing where n is even.
  package static func store(in folder: TemporaryFolder, _ form: Form) throws -> String {
    let path = folder.path("Cloud.sqlite")
    let writer = try StoreWriter(creating: path, model: model(), uuid: uuid)
    for index in Case.all.indices {
      _ = try writer.insert(
        index % 2 == 0 ? "Base" : "Thing", attributes: ["title": .string("Case \(index)")])
    }
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("BEGIN")
    try connection.execute(tables(form))
    var archive = KeyedArchiveWriter()
    let entries = archive.dictionary(
      [(uuid, token), ("other", 2)].map { (archive.string($0.0), archive.add(.integer($0.1))) })
    let root = archive.add(
      class: ["_NSPersistentHistoryToken", "NSPersistentHistoryToken", "NSObject"],
      ["NSPersistentHistoryTokenDictionary": entries])
    try connection.run(
      "INSERT INTO ANSCKMETADATAENTRY (Z_PK, ZKEY, ZTRANSFORMEDVALUE) VALUES (1, 'NSCloudKitMirroringDelegateLastHistoryTokenKey', ?)",
      [.blob(archive.bytes(root: root))])
    for (index, one) in Case.all.enumerated() {
      let (key, entity) = (Int64(index + 1), Int64(index % 2 + 1))
      if !one.exists { try connection.run("DELETE FROM ZBASE WHERE Z_PK = ?", [.integer(key)]) }
      if let flags = one.flags {
        try connection.run(
          """
          INSERT INTO ANSCKRECORDMETADATA (Z_ENT, Z_OPT, ZENTITYID, ZENTITYPK, ZNEEDSUPLOAD, ZNEEDSCLOUDDELETE,
          ZNEEDSLOCALDELETE, ZRECORDZONE, ZCKRECORDNAME) VALUES (?, 1, ?, ?, ?, ?, ?, 1, ?)
          """,
          [.integer(Int64(form.recordNumber)), .integer(entity), .integer(key)]
            + flags.map { .integer($0 ? 1 : 0) }
            + [one.isNamed ? .text("record \(key)") : .null])
      }
      switch one.change {
      case .none: break
      case .inHistory:
        try connection.run(
          "INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES (16001, ?, ?, ?, 6)",
          [.integer(one.exists ? 1 : 2), .integer(entity), .integer(key)])
      case .analysed:
        try connection.run(
          "INSERT INTO ANSCKHISTORYANALYZERSTATE (ZENTITYID, ZENTITYPK) VALUES (?, ?)",
          [.integer(entity), .integer(key)])
      }
    }
    try connection.execute("COMMIT")
    connection.close()
    // What the mirror keeps is in nobody's way.
    try SecondReader.expectAgreement(at: path)
    return path
  }

  private static func tables(_ form: Form) -> String {
    let own = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
    let system =
      form == .later
      ? "ZENCODEDRECORDASSET INTEGER, ZSYSTEMFIELDSASSET INTEGER"
      : "ZCKRECORDSYSTEMFIELDS BLOB, ZCKSHARE BLOB, ZENCODEDRECORD BLOB"
    let invitation = [.model16, .later].contains(form) ? ", ZNEEDSNEWSHAREINVITATION INTEGER" : ""
    let assets =
      form == .later
      ? [
        "MIRROREDRELATIONSHIPSYSTEMFIELDSASSET", "RECORDMETADATAENCODEDRECORDASSET",
        "RECORDMETADATASYSTEMFIELDSASSET", "RECORDZONEMETADATAENCODEDSHAREASSET",
      ] : []
    let empty = assets + (form == .model8 ? [] : ["RECORDZONEMOVERECEIPT", "RECORDZONEQUERY"])
    return """
      CREATE TABLE ANSCKRECORDMETADATA ( \(own), ZENTITYID INTEGER, ZENTITYPK INTEGER, ZNEEDSUPLOAD INTEGER, ZNEEDSCLOUDDELETE INTEGER, ZNEEDSLOCALDELETE INTEGER, ZLASTEXPORTEDTRANSACTIONNUMBER INTEGER, ZRECORDZONE INTEGER, \(system), ZCKRECORDNAME VARCHAR );
      CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_entityId_entityPK ON ANSCKRECORDMETADATA (ZENTITYID COLLATE BINARY ASC, ZENTITYPK COLLATE BINARY ASC);
      CREATE TABLE ANSCKRECORDZONEMETADATA ( \(own), ZDATABASE INTEGER, ZNEEDSIMPORT INTEGER, ZNEEDSRECOVERYFROMIDENTITYLOSS INTEGER, ZNEEDSRECOVERYFROMUSERPURGE INTEGER, ZNEEDSRECOVERYFROMZONEDELETE INTEGER, ZNEEDSSHAREDELETE INTEGER, ZNEEDSSHAREUPDATE INTEGER\(invitation), ZLASTFETCHDATE TIMESTAMP, ZCKOWNERNAME VARCHAR, ZCKRECORDZONENAME VARCHAR );
      CREATE TABLE ANSCKDATABASEMETADATA ( \(own), ZDATABASESCOPENUM INTEGER, ZDATABASENAME VARCHAR );
      CREATE TABLE ANSCKMIRROREDRELATIONSHIP ( \(own), ZISPENDING INTEGER, ZISUPLOADED INTEGER, ZNEEDSDELETE INTEGER, ZCDENTITYNAME VARCHAR, ZRELATIONSHIPNAME VARCHAR );
      CREATE TABLE ANSCKIMPORTPENDINGRELATIONSHIP ( \(own), ZCDENTITYNAME VARCHAR, ZRELATIONSHIPNAME VARCHAR );
      CREATE TABLE ANSCKHISTORYANALYZERSTATE ( \(own), ZENTITYID INTEGER, ZENTITYPK INTEGER, ZFINALCHANGETYPENUM INTEGER );
      CREATE TABLE ANSCKMETADATAENTRY ( \(own), ZBOOLVALUENUM INTEGER, ZINTEGERVALUE INTEGER, ZDATEVALUE TIMESTAMP, ZKEY VARCHAR, ZSTRINGVALUE VARCHAR, ZTRANSFORMEDVALUE BLOB );
      CREATE TABLE ANSCKEVENT ( \(own), ZCLOUDKITEVENTTYPE INTEGER, ZCOUNTAFFECTEDOBJECTS INTEGER, ZCOUNTFINISHEDOBJECTS INTEGER, ZERRORCODE INTEGER, ZSUCCEEDED INTEGER, ZENDEDAT TIMESTAMP, ZSTARTEDAT TIMESTAMP, ZERRORDOMAIN VARCHAR );
      \(empty.map { "CREATE TABLE ANSCK\($0) ( \(own) );" }.joined(separator: "\n"))
      CREATE TABLE ACHANGE ( \(own), ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB );
      CREATE TABLE ATRANSACTION ( \(own), ZTIMESTAMP FLOAT, ZAUTHORTS INTEGER, ZAUTHOR VARCHAR );
      CREATE TABLE ATRANSACTIONSTRING ( \(own), ZNAME VARCHAR );
      INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'NSCloudKitMirroringDelegate.import'), (2, 16003, 1, 'app');
      INSERT INTO ATRANSACTION (Z_PK, ZAUTHORTS) VALUES (5, 2), (6, NULL), (7, 1);
      INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
        SELECT 16001, 1, Z_ENT, Z_PK, 5 FROM ZBASE UNION ALL SELECT 16001, 1, Z_ENT, Z_PK, 7 FROM ZBASE;
      INSERT INTO ANSCKDATABASEMETADATA VALUES (1, 17001, 1, 2, 'Private');
      INSERT INTO ANSCKRECORDZONEMETADATA (Z_PK, ZDATABASE, ZNEEDSIMPORT, ZLASTFETCHDATE, ZCKOWNERNAME, ZCKRECORDZONENAME)
        VALUES (1, 1, 1, 700000000, '__defaultOwner__', 'com.apple.coredata.cloudkit.zone');
      INSERT INTO ANSCKMIRROREDRELATIONSHIP (ZISUPLOADED, ZNEEDSDELETE) VALUES (0, 0), (0, 0), (1, 0), (1, 1), (0, 1), (NULL, NULL);
      INSERT INTO ANSCKIMPORTPENDINGRELATIONSHIP (ZCDENTITYNAME) VALUES ('Base');
      INSERT INTO ANSCKMETADATAENTRY (Z_PK, ZKEY, ZSTRINGVALUE, ZINTEGERVALUE) VALUES (2, 'NSCloudKitMirroringDelegateCKIdentityRecordNameDefaultsKey', '_account', NULL), (3, 'PFCloudKitMetadataFrameworkVersionKey', NULL, 1243);
      INSERT INTO ANSCKEVENT VALUES (1, 17002, 1, 2, 1, 0, 2, 0, 14, 13, 'CKErrorDomain'), (2, 17002, 1, 1, 4, 4, 0, 1, 12.5, 11, NULL),
        (3, 17002, 1, 2, 1, 4, 0, 1, 10.5, 10, NULL), (4, 17002, 1, 0, 0, 0, 0, 0, NULL, 9, NULL);
      """
  }
}
