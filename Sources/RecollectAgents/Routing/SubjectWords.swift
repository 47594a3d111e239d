/// The words of each subject, in large European languages, folded as in `Words`.
///
/// A word may belong to several subjects. Names of people, products and places, and words common to all subjects,
/// belong to none.
enum SubjectWords {
    static let trade = [
        // Opening hours and places.
        """
        open opening opened close closes closing closed hours address location located branch store shop
        directions park parking offen geoffnet offnet offnungszeiten schließt schließen geschlossen adresse
        filiale finde ouvert ouverts ouverture ferme fermez fermeture horaire horaires magasin boutique
        abierto abre abren abris abierta cierra cierran horario horarios direccion tienda tiendas aperto apre
        orari chiude
        """,
        // Deliveries.
        """
        parcel package delivery deliver delivered courier driver shipping shipment ship shipped tracking track
        arrive arrives arrived arrival order orders ordered box paket pakete lieferung liefern geliefert
        versand sendung zustellung bestellung bestellt colis livraison livrer livre commande commandes
        expedition suivi recu recevoir paquete paquetes envio envios entrega pedido pedidos seguimiento llega
        llegado llegar pacco consegna spedizione ordine
        """,
        // Returns.
        """
        return returns returned exchange refund money back defective damaged wrong missing size voucher
        complaint zuruck zuruckgeben zuruckschicken ruckgabe umtausch umtauschen erstattung defekt beschadigt
        reklamation retour retours retourner rendre renvoyer echange echanger remboursement rembourser
        remboursee rembourse abime abimes defectueux garantie devolver devolucion devoluciones cambiar cambio
        reembolso reembolsos defectuoso defectuosos rota roto reso rimborso
        """,
        // Clothes.
        """
        clothes clothing dress shirt shoe shoes jacket coat trousers pants sweater skirt jeans outfit wear
        fashion wedding kleidung kleid hemd schuhe jacke mantel hose pullover rock anziehen mode hochzeit
        großen vetement vetements robe chemise chaussures veste manteau pantalon pull jupe tenue tenues porter
        mariage taille tailles couleur couleurs ropa vestido camisa zapatos chaqueta abrigo pantalones falda
        moda boda talla tallas vestiti scarpe
        """,
        // Buying.
        """
        buy purchase product products price prices cost offer offers cheap cheaper expensive discount deal
        licence license sales kaufen produkt preis preise angebot billig billiger teuer rabatt acheter produit
        prix cher solde rabais comprar producto precio precios oferta barato caro descuento
        """,
        // Subscriptions.
        """
        subscription subscriptions subscribe unsubscribe membership member premium renew renewal trial monthly
        month yearly year annual ads upgrade downgrade contract tariff package packages price prices cost abo
        abonnement kundigen kundigung mitglied mitgliedschaft vertrag tarif monatlich jahrlich abonnements
        abonner resilier contrat mensuel suscripcion contrato tarifa mensual abbonamento
        """,
    ]

    static let money = [
        // Paying.
        """
        invoice invoices bill bills billing billed charge charges charged overcharged payment payments pay
        paid paying refund receipt debit fee fees installment installments overdue vat money twice rechnung
        rechnungen zahlen zahlung bezahlen bezahlt gebuhr kosten abgebucht lastschrift quittung facture
        factures payer paye paiement paiements frais preleve recu facturation factura facturas pagar pago
        pagos cobro cobros cobrado cobrar coste recibo duplicado fattura pagare
        """,
        // Bank cards.
        """
        card cards debit credit pin atm lost stolen block blocked swipe declined refused wallet contactless
        limit karte karten kreditkarte girocard portemonnaie geldbeutel sperren gesperrt verloren gestohlen
        carte cartes bancaire perdu volee tarjeta tarjetas perdido robada bloquear carta
        """,
        // Bank accounts.
        """
        account accounts balance balances transfer transfers send statement statements savings checking
        deposit iban rent standing konto kontostand uberweisung uberweisungen uberweisen dauerauftrag
        dauerauftrage kontoauszug kontoauszuge geld sparen miete abbuchen automatisch bucht compte comptes
        solde virement virements releve epargne cuenta cuentas saldo transferencia ahorro extracto conto
        bonifico
        """,
        // Loans.
        """
        loan loans mortgage mortgages borrow borrowed lend interest rates repay repayment repayments debt
        kredit kredite ratenkredit darlehen baufinanzierung hypothek leihen zinsen tilgung finanzieren haus
        pret prets emprunt emprunter hypotheque taux prestamo prestamos hipoteca intereses mutuo prestito
        """,
        // Investing.
        """
        invest investing investment investments stock stocks share shares fund funds bond bonds portfolio etf
        dividend aktie aktien fonds anlage anlegen depot bourse actions acciones fondos
        """,
        // Taxes.
        """
        tax taxes deduct deduction deductions return irs steuer steuern steuererklarung absetzen impot impots
        fiscal impuesto impuestos
        """,
        // Budgets.
        """
        budget budgets spend spending spent saving savings goal category groceries expenses ausgaben depenses
        gastos
        """,
        // Insurance: contracts.
        """
        insurance insured insure policy policies cover covers covered coverage quote versicherung versichert
        police assurance assure seguro poliza cobertura
        """,
        // Insurance: damage.
        """
        claim claims accident accidents crash crashed damage damaged theft stolen stole burglary broke flood
        flooded fire incident schaden unfall diebstahl gestohlen eingebrochen sinistre vol siniestro accidente
        robo robado
        """,
        // Salaries.
        """
        salary salaries payroll wage wages payslip payslips bonus paid expense expenses reimbursement money
        gehalt lohn gehaltsabrechnung spesen salaire paie nomina sueldo
        """,
    ]

    static let office = [
        // Accounts and passwords.
        """
        password passwords login log sign access credentials account username locked reset vpn authentication
        permission passwort anmelden zugang gesperrt mot passe connexion contrasena clave acceso
        """,
        // Devices.
        """
        laptop laptops computer computers notebook monitor screen keyboard mouse printer printers charger
        cable headset device devices equipment phone phones iphone tablet rechner bildschirm drucker tastatur
        ordinateur ecran imprimante ordenador pantalla impresora
        """,
        // Networks.
        """
        internet wifi wi fi wlan network router modem signal connection connections connected disconnects vpn
        slow speed offline bandwidth netz netzwerk langsam empfang reseau lent red lento conexion rete
        """,
        // Outages.
        """
        incident incidents outage outages alert alerts down error errors failing latency slow timeout timeouts
        unavailable spike spiking crash crashes crashing duty pager dashboard api 500 502 503 504 störung
        ausfall panne erreur caida
        """,
        // Releases.
        """
        deploy deploys deployed deployment deployments release releases released rollback roll rolls revert
        version versions build builds pipeline pipelines production prod staging ship hotfix
        """,
        // Programs.
        """
        code coding program programs programming bug bugs debug debugs function functions class loop recursion
        exception pointer null compile compiler compiles script variable refactor rename test tests failing
        python swift java javascript programmieren fehler fonction bogue codigo programa
        """,
        // Code review.
        "review reviews reviewer pull request requests pr merge diff diffs approve safety style",
        // Libraries.
        "documentation docs library libraries api apis option parameter manual dokumentation bibliothek",
        // Figures.
        """
        data query queries sql metric metrics report reports chart charts graph statistics number numbers
        revenue conversion users signed signups active dashboard country analytics kpi daten bericht zahlen
        umsatz donnees rapport chiffres datos informe ventas
        """,
        // Playing video.
        """
        video picture image sound audio subtitle subtitles buffering buffer freeze freezes freezing stream
        streaming playback cast casting tv television screen download downloads app sync lag bild ton
        untertitel fernseher sous titres imagen sonido subtitulos
        """,
        // Leave.
        """
        vacation holiday holidays leave off sick ill flu absence parental pto days urlaub urlaubstage krank
        krankmeldung elternzeit conge conges malade baja vacaciones
        """,
        // Hiring.
        """
        job jobs position positions apply applying application applicant candidate candidates interview
        interviews interviewed hire hiring recruit recruiting resume cv referral referrals stelle stellen
        bewerbung bewerben bewerber emploi poste candidat entretien empleo puesto candidato entrevista
        """,
        // The office.
        """
        office offices desk desks badge badges chair monitor meeting parking door floor keycard equipment buro
        schreibtisch bureau oficina escritorio
        """,
        // Calendars.
        """
        calendar agenda schedule appointment appointments meeting meetings event events birthday birthdays
        remind reminder reminders date tomorrow kalender termin termine geburtstag erinnere erinnerung
        calendrier anniversaire rappel calendario cumpleanos recuerda recordatorio
        """,
        // Tasks.
        """
        todo task tasks list lists remind reminder reminders forget shopping add aufgabe aufgaben liste
        einkaufsliste erinnere vergessen tache taches rappelle lista tarea tareas compra
        """,
        // Mail.
        """
        mail mails email emails inbox message messages reply replies replied write send sent letter nachricht
        nachrichten courriel repondre correo correos mensaje mensajes
        """,
        // News.
        """
        news headline headlines politics election elections parliament president government economy sport
        sports game match score won team league nachrichten politik wahl actualites politique noticias
        politica
        """,
    ]
}
