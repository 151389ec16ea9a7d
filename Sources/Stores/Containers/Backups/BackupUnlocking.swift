import Files
import ManagedModel
import Synchronization

/// Which backup a password is asked for, as the backup itself says: hostile text.
package struct BackupIdentity: Sendable, Equatable {
  /// What the device is called.
  package var device: String?
  /// The version of iOS.
  package var system: String?
  /// When the backup was made: seconds since 2001.
  package var date: Double?

  /// Reads what Manifest.plist and Info.plist say.
  init(manifest: PropertyListValue?, info: PropertyListValue?) {
    let lockdown = manifest?["Lockdown"]
    device = lockdown?["DeviceName"]?.string ?? info?["Device Name"]?.string
    system = lockdown?["ProductVersion"]?.string ?? info?["Product Version"]?.string
    for value in [manifest?["Date"], info?["Last Backup Date"]] {
      if date == nil, case .date(let seconds)? = value { date = seconds }
    }
  }

  private static let longest = 40

  /// One line without anything that a terminal obeys: `“Anna’s iPhone”, iOS 18.1, 2026-11-20`.
  package var text: String {
    func short(_ text: String) -> String {
      text.count > Self.longest
        ? String(text.prefix(Self.longest)).printable + "…" : text.printable
    }
    let day = date.map { String(CoreDataDate.text($0).prefix(10)) }
    return [
      device.map { "“\(short($0))”" }, system.map { "iOS " + short($0) }, day,
    ].compactMap { $0 }.joined(separator: ", ")
  }
}

/// The keys of the backups that a password has opened in this run.
package final class BackupKeyRing: Sendable {
  /// By the bytes of the keybag: a backup is the same one in whatever it comes.
  private let keys = Mutex<[[UInt8]: ClassKeys]>([:])

  /// Without any.
  package init() {}

  /// Whether the folder of a backup is encrypted, and its keys are not here.
  package func isMissing(forBackup folder: String) -> Bool {
    guard let bytes = try? FileSystem.read(folder + "/Manifest.plist", limit: 16 << 20),
      let list = try? PropertyList.read(bytes), list["IsEncrypted"]?.boolean == true
    else { return false }
    return list["BackupKeyBag"]?.data.flatMap(keys(of:)) == nil
  }

  func keys(of keybag: [UInt8]) -> ClassKeys? { keys.withLock { $0[keybag] } }

  func add(_ opened: ClassKeys, of keybag: [UInt8]) { keys.withLock { $0[keybag] = opened } }
}

/// How encrypted backups are opened: where passwords come from, and who sees how far a derivation is.
package struct BackupUnlocking {
  /// Asks for a password.
  ///
  /// - Parameter attempt: how many were wrong before.
  /// - Returns: `nil` where there is no other.
  package typealias Password = (_ backup: BackupIdentity, _ attempt: Int) throws -> Secret?

  let ring: BackupKeyRing
  /// Whether a person is asked: not for each backup of a folder that has several further down.
  let asks: Bool
  let password: Password
  let progress: (Double) throws -> Void

  /// - Parameters:
  ///   - asks: whether a person is asked, who knows only which backup was named.
  ///   - progress: gets 0 to 1 while a key is derived; it throws to stop.
  package init(
    ring: BackupKeyRing, asks: Bool = true, progress: @escaping (Double) throws -> Void = { _ in },
    password: @escaping Password
  ) {
    (self.ring, self.asks, self.password, self.progress) = (ring, asks, password, progress)
  }

  /// No password at all.
  package static var none: BackupUnlocking {
    BackupUnlocking(ring: BackupKeyRing()) { _, _ in nil }
  }

  /// The same without asking a person: only with what was given already.
  var withoutAsking: BackupUnlocking {
    asks ? BackupUnlocking(ring: ring) { _, _ in nil } : self
  }
}

/// What Manifest.plist says of a backup's encryption.
struct BackupEncryption {
  private let bag: [UInt8]
  private let keybag: Keybag
  /// The key of Manifest.db; systems before iOS 10.2 did not encrypt it.
  let manifestKey: WrappedKey?
  private let identity: BackupIdentity

  /// - Throws: ``CoreDataError`` of kind unreadable where there is no keybag, or a damaged one.
  init(
    _ manifest: PropertyListValue?, info: PropertyListValue?, of container: String
  )
    throws(CoreDataError)
  {
    guard let bag = manifest?["BackupKeyBag"]?.data else {
      throw CoreDataError(
        .unreadable,
        "this iOS backup is encrypted, and its keybag (BackupKeyBag in Manifest.plist) is missing",
        path: container,
        hint: "No password opens it without that: use another copy of it, or make a new backup.")
    }
    self.bag = bag
    do { keybag = try Keybag(bag) } catch { throw error.at(path: container) }
    if let key = manifest?["ManifestKey"] {
      guard let wrapped = key.data.flatMap(WrappedKey.init) else {
        throw CoreDataError(
          .unreadable, "the key of the backup's list of files (ManifestKey) is damaged",
          path: container, hint: "Use another copy of the backup, or make a new one.")
      }
      manifestKey = wrapped
    } else {
      manifestKey = nil
    }
    identity = BackupIdentity(manifest: manifest, info: info)
  }

  /// The class keys, opened with a password unless they were already.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where there is no password, or only wrong ones; what
  ///   the derivation throws when it is stopped.
  func keys(of container: String, _ unlocking: BackupUnlocking) throws -> ClassKeys {
    if let known = unlocking.ring.keys(of: bag) { return known }
    Secret.forbidCoreDumps()
    var attempt = 0
    while let password = try unlocking.password(identity, attempt) {
      if let key = try KeyDerivation.key(
        from: password, for: keybag, progress: unlocking.progress),
        let keys = ClassKeys(keybag, with: key)
      {
        unlocking.ring.add(keys, of: bag)
        return keys
      }
      attempt += 1
    }
    guard attempt > 0 else {
      throw CoreDataError(
        .unreadable, "this iOS backup is encrypted: only its password opens it", path: container,
        advice:
          "It is the password that Finder or iTunes asked for at “Encrypt local backup”. \(.password, "FILE") gives it."
      )
    }
    throw CoreDataError(
      .unreadable, "the password of the encrypted iOS backup is wrong", path: container,
      advice:
        "It is the password that Finder or iTunes asked for at “Encrypt local backup”, not the passcode of the device. \(.password, "FILE") gives it."
    )
  }
}
