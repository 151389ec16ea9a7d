import Comparison
import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Makes one store of two that came from one, or that hold the same objects.
///
/// Both are only read. The result is a copy of the newer one, with what only the older one has. It is made in a
/// private folder, verified, and gets its name when it is whole.
package enum StoreMerge {
  /// Merges two stores.
  ///
  /// - Parameters:
  ///   - old: the store whose objects come in.
  ///   - new: the store that they come to: its UUID, history and mirrored rows stay.
  ///   - base: the copy that both come from.
  ///   - output: where the result is to be; `nil` to find out what it would be.
  ///   - progress: called with what is being done.
  /// - Throws: ``CoreDataError`` of kind refused for stores of two versions, damaged ones, and, where a result is to be
  ///   made, for objects that nothing pairs or decides; nothing is left of the output where anything fails.
  package static func run(
    _ old: Store, _ new: Store, base: Store? = nil, options: MergeOptions = MergeOptions(),
    to output: String?, isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (String) -> Void = { _ in }
  ) throws -> MergeReport {
    try Connection.stoppingAll(when: isCancelled) {
      let stores = MergedStores(old: old, new: new, base: base)
      try MergeChecks.run(stores, options, isCancelled)
      if let output {
        try NewStorePlace.require(output, besides: stores.all.map(\.path))
        if FileIdentity(of: StoreFiles(path: output).supportFolder) != nil {
          try SupportTree.place(of: new.files, beside: output)
        }
      }
      let states = try stores.all.map { try $0.connection.value("PRAGMA data_version") }
      let told = MergeTelling(
        MergeReport(oldPath: old.path, newPath: new.path, basePath: base?.path), stores,
        isCancelled: isCancelled)
      let work = StoreMerge.Work(
        stores: stores, options: options, told: told, isCancelled: isCancelled, progress: progress)
      do {
        if let output {
          let pending = try PendingOutput(for: FileSystem.place(of: output))
          let support = try work.write(to: pending)
          try requireUnchanged(stores, states)
          try told.check()
          try pending.finish(with: [support].compactMap { $0 })
          told.report.outputPath = output
        } else {
          try work.rehearse()
        }
      } catch let error as SQLiteError {
        throw CoreDataError(sqlite: error, path: output ?? new.path, kind: .failed)
      }
      return told.report
    }
  }

  private static func requireUnchanged(_ stores: MergedStores, _ states: [Value?]) throws {
    for (store, state) in zip(stores.all, states) {
      let now = try store.connection.value("PRAGMA data_version")
      guard store.isChanged || now != state else { continue }
      throw CoreDataError(
        .failed, "another program wrote to the store while it was read", path: store.path,
        hint: "Close that program and try again.")
    }
  }
}

extension StoreMerge {
  /// One merge under way.
  struct Work {
    let stores: MergedStores
    let options: MergeOptions
    let told: MergeTelling
    let isCancelled: () -> Bool
    let progress: (String) -> Void

    /// Makes the store in the folder of an output.
    ///
    /// - Returns: the name of the support folder beside it; `nil` if there is none.
    func write(to pending: PendingOutput) throws -> String? {
      let name = FileSystem.name(of: pending.path)
      let file = try pending.folder.create(name)
      let files = StoreFiles(path: pending.path)
      let support = FileSystem.name(of: files.supportFolder)
      progress("copying")
      if try stores.new.files.openSupportFolder() != nil {
        told.report.notes += try SupportTree.copy(
          of: stores.new.files, to: pending.folder.path(of: support), check: told.check)
      }
      try noteOthers()
      let data = FileSystem.name(of: files.externalDataFolder)
      try merge(into: file.path) {
        try pending.folder.makeFolder(support).makeFolder(data)
      }
      if stores.new.isLogged { try Connection(path: file.path, mode: .made).closeAsLogged() }
      FileAttributes.makeOrdinary(file)
      try file.sync()
      try file.requireName()
      try pending.sync(support)
      progress("checking the result")
      try MergeVerification.diagnose(file.path, of: stores, isCancelled: isCancelled)
      return try pending.folder.entry(support) == nil ? nil : support
    }

    /// Names what is beside the stores and does not come along: the mirror's copies of files, and what another program
    /// put into the older store's support folder. That of the newer store comes whole.
    private func noteOthers() throws {
      for store in [stores.old, stores.new] {
        told.report.notes += store.files.mirrorAssets.map {
          "\($0) was not copied: it belongs to the mirror."
        }
      }
      guard let support = try stores.old.files.openSupportFolder() else { return }
      told.report.notes += try support.list().filter { $0 != StoreFiles.externalDataName }.map {
        "\(support.path(of: $0)) was not copied: nothing in the older store refers to it."
      }
    }

    /// Does the same in a folder that is removed, and writes no file of external data.
    func rehearse() throws {
      let folder = try PrivateFolder(.disk)
      let path = folder.path + "/merged.sqlite"
      _ = try FileSystem.createEmpty(path)
      try noteOthers()
      try merge(into: path, files: nil)
      guard told.report.canRun else { return }
      progress("checking the result")
      try MergeVerification.diagnose(path, of: stores, hasFiles: false, isCancelled: isCancelled)
    }

    private func merge(into path: String, files: (() throws -> Folder)?) throws {
      let names = stores.new.model.entities.filter { !$0.isAbstract }.map(\.name)
        .sorted { $0.precedes($1) }
      let entities = names.enumerated().compactMap { place, name in
        MergedEntity(name, place: place, stores, isIncluded: isIncluded(name))
      }
      progress("pairing objects")
      let connection: Connection
      let map: ObjectMap
      let list: ChangeList
      do {
        var request = ComparisonRequest()
        request.ignoresBookkeeping = true
        request.needsValues = true
        // Keys say that two objects are one only where a person, or the copy that both come from, says so.
        let isByKey = stores.base != nil || options.trustsKeys
        request.matches = (isByKey ? [] : [.unique]) + options.matches
        let comparison = try StoreComparison(
          stores.old, stores.new, request, base: stores.base, isCancelled: isCancelled)
        try count(comparison.pairings)
        if !told.report.unpaired.isEmpty {
          if files == nil { return }
          throw MergeChecks.unpaired(told.report)
        }
        connection = try stores.new.connection.clone(to: path)
        try prepare(connection)
        // In a transaction no database takes its settings.
        list = try ChangeList(of: connection)
        try list.attach(to: connection)
        map = try ObjectMap(connection, stores, entities)
        try connection.execute("BEGIN")
        try map.addPairs { add in try comparison.eachPair { try add($0, $1, $2, $3) } }
      }
      if stores.base != nil { try pairLacking(map) }
      try map.pairUnique()
      // Under keys that the base has not given out, two objects are two.
      if stores.base == nil { try countLacking(map) }
      if !told.report.unpaired.isEmpty {
        if files == nil { return }
        throw MergeChecks.unpaired(told.report)
      }
      try write(map, list, files)
      if told.report.undecided > 0, files != nil { throw MergeChecks.undecided(told.report) }
      progress("verifying")
      try MergeVerification(map: map, told: told, keepsDeleted: options.keepsDeleted).run()
      try PartnerVerification(map: map, told: told).run()
      if files != nil { try FileVerification(map, told, result: StoreFiles(path: path)).run() }
      try connection.execute("COMMIT")
      connection.close()
    }

    private func isIncluded(_ entity: String) -> Bool {
      options.entities.isEmpty
        || stores.new.model.lineage(of: entity).contains { options.entities.contains($0.name) }
    }

    private func prepare(_ connection: Connection) throws {
      connection.fireTriggers(false)
      connection.onProgress(isCancelled)
      try StoreFunctions.define(on: connection)
      try connection.execute("PRAGMA temp_store = FILE")
      try connection.attach(stores.old.connection, as: "src")
      try connection.attach(stores.new.connection, as: "now")
      if let base = stores.base { try connection.attach(base.connection, as: "base") }
    }

    private func write(
      _ map: ObjectMap, _ list: ChangeList, _ output: (() throws -> Folder)?
    ) throws {
      let completion = try MergeCompletion(map, list)
      let files = MergedFiles(map, told, output: output)
      let rows = RowMerge(map: map, options: options, files: files, told: told)
      let links = LinkMerge(map: map, options: options, rows: rows, told: told)
      try giveKeys(map)
      progress("merging objects")
      let included = map.entities.filter(\.isIncluded)
      for entity in included { try rows.insert(entity) }
      for entity in included { try rows.leaveOutIncomplete(entity) }
      for entity in included { try rows.update(entity) }
      try rows.retry()
      for entity in included { try rows.insertRefused(entity) }
      try links.linkPartners()
      progress("merging links")
      try links.unite()
      try links.place()
      progress("copying files")
      for entity in included { try files.bringAll(of: entity) }
      // Before owners are saved again only because others refer to them.
      try count(map)
      progress("bringing counts and history up to date")
      told.report.transaction = try completion.run(check: told.check)
    }

    private func giveKeys(_ map: ObjectMap) throws {
      var source: MergeReport.DeletionSource?
      if stores.base != nil {
        source = .base
      } else if stores.new.keepsHistory, stores.new.metadata.uuid == stores.old.metadata.uuid,
        try map.isHistoryWhole()
      {
        source = .history
        try map.readHistory()
      }
      told.report.deletionSource = source
      if options.keepsDeleted {
        guard let source else { throw MergeChecks.unknownDeletions(stores) }
        try map.leaveOutDeleted(source)
        let out = try map.connection.rows("SELECT e, a, reason FROM temp.merge_out ORDER BY e, a")
        for row in out {
          guard let place = row[0].integer, let a = row[1].integer,
            let reason = row[2].text.flatMap(MergeReport.Reason.init(rawValue:)),
            let entity = map.entities.first(where: { $0.place == Int(place) })
          else { continue }
          try told.leaveOut(entity, a, reason)
        }
      }
      try map.giveKeys(source)
    }

    // MARK: Counts

    private func count(_ pairings: [EntityPairing]) throws {
      let (old, new) = (try stores.old.counts(), try stores.new.counts())
      told.report.isMirrored = try stores.new.cloudKit() != nil
      for pairing in pairings where isIncluded(pairing.entity) {
        var count = MergeReport.EntityCount(entity: pairing.entity, pairing: pairing)
        (count.old, count.new) = (old[pairing.entity] ?? 0, new[pairing.entity] ?? 0)
        count.total = count.new
        told.report.entities.append(count)
        if stores.base == nil, pairing.isGrownApart {
          let keys =
            pairing.splitKeys == 1
            ? "1 key belongs to different objects"
            : "\(NumberText.grouped(pairing.splitKeys)) keys belong to different objects"
          told.report.notes.append(
            "\(pairing.entity) may have grown apart: \(keys) in the two stores, and other keys may wrongly have been taken for one object. The copy that both stores come from decides it."
          )
        }
        if pairing.by == .none, count.old > 0, count.new > 0 { told.report.unpaired.append(count) }
      }
      for name in old.keys.sorted() where !isIncluded(name) {
        guard let count = old[name], count > 0 else { continue }
        told.report.notes.append(
          "\(name): \(NumberText.counted(count, "object")) of the older store left out: only other entities were requested."
        )
      }
    }

    /// Pairs by the base objects that have no value of what pairs the others of their entity.
    private func pairLacking(_ map: ObjectMap) throws {
      for count in told.report.entities where ![.key, .none].contains(count.pairing.by) {
        guard let entity = map.entities.first(where: { $0.name == count.entity }) else { continue }
        try map.pairByBase(lacking: count.pairing.on, entity)
      }
    }

    /// Objects that nothing pairs as they have no value of what pairs the others of their entity.
    private func countLacking(_ map: ObjectMap) throws {
      for count in told.report.entities where count.pairing.by != .key {
        guard let entity = map.entities.first(where: { $0.name == count.entity }) else { continue }
        let found = try map.lacking(count.pairing.on, entity)
        guard found.old > 0, found.new > 0 else { continue }
        var part = count
        (part.old, part.new, part.lacking) = (found.old, found.new, count.pairing.on)
        told.report.unpaired.append(part)
      }
    }

    private func count(_ map: ObjectMap) throws {
      for entity in map.entities where entity.isIncluded {
        let table = map.number(entity.old.table)
        let own = "temp.merge_key k WHERE k.t = \(table) AND k.e = \(entity.place)"
        let (paired, added) = (
          try map.count("\(own) AND k.kind = 0"), try map.count("\(own) AND k.kind > 0")
        )
        let renumbered = try map.count("\(own) AND k.kind = \(ObjectMap.Kind.renumbered.rawValue)")
        let returned = try map.count("\(own) AND k.kind > 0 AND k.deleted")
        let out = try map.count("temp.merge_out WHERE t = \(table) AND e = \(entity.place)")
        let changed = try map.count(
          """
          temp.merge_touched x CROSS JOIN now.\(quoted(entity.new.table)) n ON n.Z_PK = x.r
          WHERE x.t = \(table)\(entity.new.ownRows("n").map { " AND " + $0 } ?? "")
          """)
        told.report.count(entity.name) {
          ($0.paired, $0.added, $0.renumbered) = (paired, added, renumbered)
          ($0.returned, $0.leftOut, $0.changed) = (returned, out, changed)
          $0.total = $0.new + added
        }
      }
    }
  }
}
