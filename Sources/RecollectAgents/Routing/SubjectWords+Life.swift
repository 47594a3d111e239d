/// Subjects outside of business.
extension SubjectWords {
    static let home = [
        // Broken things.
        """
        repair repairs fix fixes fixed broken leak leaks leaking toilet tap shower sink water pipe heating
        radiator radiators boiler light lamp power socket electricity elevator lift door window lock handle
        noise plumbing plumber stuck reparatur reparieren kaputt dusche wasser heizung licht lampe strom
        steckdose aufzug fenster tur undicht reparer reparation panne casse fuite douche robinet eau chauffage
        lumiere ascenseur fenetre porte arreglar arregla reparar reparacion averia estropeado roto gotea ducha
        agua grifo calefaccion luz lampara enchufe enchufes ascensor ventana puerta ruido funciona enciende
        apaga televisor aire acondicionado mantenimiento doccia acqua luce riscaldamento
        """,
        // Smart homes.
        """
        light lights lamp lamps heating heat thermostat temperature warm warmer cold freezing hot blinds
        curtains lock locks locked door doors vacuum robot switch turn dim living bedroom bathroom hallway
        room rooms licht lampe heizung kalt rollladen jalousie tur staubsauger wohnzimmer schlafzimmer lumiere
        chauffage froid chaud volets salon chambre luz calefaccion frio calor persianas
        """,
        // Rent.
        """
        rent rents deposit lease landlord tenant utility utilities miete kaution vermieter mieter nebenkosten
        loyer caution locataire alquiler fianza inquilino
        """,
        // Flats.
        """
        apartment apartments flat flats house bedroom bedrooms balcony viewing viewings available property
        move wohnung wohnungen haus zimmer balkon besichtigung appartement logement maison piso apartamento
        casa
        """,
        // Waste.
        """
        waste trash garbage rubbish bin bins recycling recycle recycled bulky compost fridge sofa mattress
        cardboard pickup abfall mull mullabfuhr tonne tonnen biotonne restmull sperrmull wertstoffhof
        recyclinghof kuhlschrank matratze karton leerung geleert abholung entsorgen altglas dechet dechets
        poubelle poubelles ordures tri encombrants recyclage decheterie basura residuos contenedor reciclaje
        rifiuti
        """,
        // Cleaning.
        """
        clean cleaning laundry wash dishes tidy iron putzen waschen wasche aufraumen nettoyer menage lessive
        limpiar limpieza lavar
        """,
        // Gardens.
        """
        garden gardening plant plants flower flowers rose roses tree lawn seed seeds soil prune pest weeds
        garten pflanze pflanzen blume blumen rasen jardin plante plantes fleurs planta plantas
        """,
        // Pets.
        """
        dog dogs cat cats pet pets puppy vet animal animals hund katze haustier tierarzt chien chat
        veterinaire perro gato mascota
        """,
        // Documents.
        """
        passport passports identity id birth certificate marriage marry visa citizenship pass passe reisepass
        ausweis ausweise personalausweis geburtsurkunde heirat heiraten passfoto passfotos passeport
        passeports identite naissance mariage mariages marie papiers pasaporte dni nacimiento matrimonio
        """,
        // Cars.
        """
        car cars vehicle auto driving driver licence license plate registration parking park garage tires
        brakes engine autos kfz wagen fahrzeug kennzeichen fuhrerschein fuhrerscheine zulassen zulassung
        anmelden abmelden ummelden parken parkausweis voiture voitures vehicule permis immatriculation
        stationnement garer coche coches matricula carnet aparcar
        """,
        // Children and schools.
        """
        school schools kindergarten kid kids child children daughter son class canteen nursery daycare schule
        kita kind kinder tochter sohn einschulung ecole ecoles enfant enfants fils fille cantine garderie
        rentree scolaire scolaires inscription cp colegio escuela hijo hija ninos comedor
        """,
    ]

    static let health = [
        // Seeing a doctor.
        """
        appointment appointments doctor doctors dr nurse dentist visit visits slot book reschedule cancel
        cancels see come arzt arztin termin termine zahnarzt praxis medecin docteur dentiste rendez vous rdv
        medico medica doctora cita citas dottore
        """,
        // Medicines.
        """
        medicine medicines medication medications prescription prescriptions pill pills tablet tablets drug
        drugs dose doses refill refills antibiotic antibiotics ibuprofen aspirin paracetamol insulin pharmacy
        side effect effects ointment medikament medikamente rezept tablette tabletten pille dosis nebenwirkung
        apotheke medicament medicaments ordonnance comprime comprimes pharmacie medicamento medicamentos
        receta pastilla pastillas farmacia toma tomas medicacion
        """,
        // Test results.
        """
        result results test tests blood lab scan scans xray ray rays mri cholesterol thyroid ultrasound urine
        sample findings blut blutbild labor befund rontgen ergebnis ergebnisse sang analyse analyses radio
        resultat resultats sangre analisis
        """,
        // Pain.
        """
        symptom symptoms pain pains hurt hurts ache headache fever cough flu sick dizzy sore throat stomach
        knee rash nausea swollen schmerz schmerzen weh fieber husten krank ubel hals bauch douleur mal fievre
        toux malade gorge dolor dolores duele fiebre tos mareo mareado enfermo garganta sintoma sintomas
        """,
        // Nutrition.
        """
        nutrition nutrient diet diets calorie calories protein vitamin vitamins carbs fat sugar weight lose
        healthy meal meals eat eating breakfast lunch dinner snack food foods ernahrung kalorien eiweiß diat
        abnehmen nahrwert nahrwerte gesund regime proteines nutricion calorias dieta
        """,
        // Cooking.
        """
        cook cooking cooked recipe recipes bake baking oven boil fry roast grill ingredient ingredients dish
        dinner lunch breakfast meal kitchen potato potatoes chicken rice pasta soup cake bread egg eggs flour
        pancake pancakes pizza salad sauce leftovers kochen rezept rezepte backen ofen zutaten kuchen suppe
        essen cuisine cuisiner recette recettes four gateau cocinar cocina receta recetas horno ingredientes
        ricetta ricette cucinare
        """,
        // Allergies and dishes.
        """
        allergy allergies allergen allergens vegan vegetarian gluten lactose nut nuts peanut peanuts spicy
        dish dishes menu fish allergie allergien vegetarisch vegetarien alergia alergias alergeno vegetariano
        vegetarianos vegano
        """,
        // Exercise.
        """
        workout workouts exercise exercises training train gym run running marathon jog squat squats pushup
        pushups lift lifting muscle muscles strength stretch stretching fitness cardio yoga equipment session
        swim trainieren ubung ubungen laufen kraft entrainement sport course musculation entrenar
        entrenamiento ejercicio ejercicios correr
        """,
        // Sleep.
        """
        sleep sleeping asleep bed bedtime nap naps wake waking awake insomnia tired night rest dream snore
        relax stress schlaf schlafen einschlafen mude bett dormir sommeil insomnie fatigue sueno insomnio
        """,
    ]

    static let travel = [
        // Traveling.
        """
        travel travelling trip trips journey vacation holiday holidays weekend destination route abroad hotel
        hotels flight flights train trains sights tour reise reisen urlaub ausflug voyage voyager vacances
        viaje viajar vacaciones viaggio vacanza
        """,
        // Flying.
        """
        flight flights fly flying plane airport airline boarding seat seats layover flug fluge fliegen
        flugzeug flughafen vol avion aeroport vuelo vuelos volar aeropuerto volo
        """,
        // Trains and buses.
        """
        train trains rail railway bus buses tram tramway subway metro station ticket tickets fare fares
        timetable zug zuge bahn bahnhof fahrkarte tren trenes autobus billet billets billete billetes gare
        transport transports transporte parada treno
        """,
        // Delays and cancellations.
        """
        delay delays delayed late cancelled canceled cancellation cancellations missed connection connections
        compensation disruption disruptions time closed verspatung verspatet ausgefallen retard annule retraso
        cancelado ritardo
        """,
        // Luggage.
        """
        luggage baggage suitcase suitcases bag bags backpack umbrella pram bike bicycle bicycles lost property
        found forgot left gepack koffer tasche bagage bagages valise valises equipaje maleta maletas bagaglio
        """,
        // Hotels.
        """
        hotel hotels room rooms night nights apartment stay check suite hostel key keys reception reservation
        zimmer nacht nachte ubernachten unterkunft schlussel chambre chambres nuit hebergement sejour cle
        habitacion habitaciones noche llave llaves recepcion alojamiento camera
        """,
        // Restaurants.
        """
        restaurant restaurants table dinner lunch breakfast eat menu dish waiter reservation tisch essen
        speisekarte fruhstuck abendessen restaurantes mesa mesas cenar cena comer comida desayuno desayunos
        almuerzo plato platos diner dejeuner tavolo cenare colazione
        """,
        // Sights.
        """
        sight sights sightseeing visit tour tours museum museums beach beaches excursion excursions guide
        guided island attractions hike bike rent sehenswurdigkeit sehenswurdigkeiten strand ausflug
        besichtigen visite visites visiter musee musees plage plages visita visitas visitar museo museos playa
        playas isla excursiones bici bicicleta bicicletas alquilar alquiler ninos spiaggia
        """,
        // Abroad.
        """
        roaming abroad foreign country countries travel travelling travels trip vacation overseas ausland land
        etranger pays extranjero pais paises
        """,
        // Weather.
        """
        weather forecast forecasts rain rainy raining umbrella snow snowing sun sunny storm storms wind windy
        temperature temperatures warm cold degrees wetter regen regnet schnee schneit sonne sturm meteo temps
        pluie pleut neige soleil tiempo lluvia llueve nieve sol clima pioggia
        """,
    ]

    static let learning = [
        // Mathematics.
        """
        math maths mathematics equation equations algebra fraction fractions geometry calculus derivative
        integral percent percentage statistics probability triangle circle area radius square root curve solve
        sum multiply divide minus plus sin cos angle x y mathe mathematik gleichung gleichungen bruch bruche
        ableitung prozent rechnen mathematiques resous resout matematicas ecuacion ecuaciones fraccion
        """,
        // Writing.
        """
        essay essays letter letters grammar spelling spell comma commas punctuation sentence sentences
        paragraph proofread style cite citation citations intro introduction draft rewrite translate
        translation aufsatz grammatik rechtschreibung komma satz dissertation grammaire orthographe phrase
        virgule redaccion gramatica ortografia
        """,
        // Science.
        """
        science physics chemistry biology experiment experiments atom atoms ion molecule cell cells energy
        force forces gravity light planet planets star evolution acid electron photosynthesis physik chemie
        biologie physique chimie fisica quimica biologia
        """,
        // History.
        """
        history war wars king kings queen revolution revolutions century empire ancient dynasty geschichte
        krieg konig histoire guerre guerres roi rois siecle historia guerra rey
        """,
        // Studying.
        """
        study studying exam exams homework deadline deadlines nervous nerves panic motivation motivate
        motivates motivated learn prufung hausaufgaben lernen devoir devoirs controle controles examen
        examenes deberes
        """,
    ]

    static let leisure = [
        // Music.
        """
        music song songs play plays playlist playlists radio podcast podcasts album artist volume louder
        quieter jazz rock listen skip musik lied lieder lauter musique chanson chansons musica cancion
        canciones
        """,
        // Films.
        """
        movie movies film films series episode documentary documentaries actor actors actress director
        directors comedy funny thriller drama crime genre genres watch tonight recommend recommends filme
        serie serien schauspieler pelicula peliculas
        """,
        // Fun.
        "joke jokes funny laugh talk chat bored witz lustig blague drole chiste gracioso",
    ]
}
