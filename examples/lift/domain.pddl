; A lift: everybody who waits gets in where it stops, and everybody who has arrived gets out.
(define (domain lift)
  (:requirements :adl)
  (:types passenger floor)
  (:predicates (origin ?p - passenger ?f - floor) (destination ?p - passenger ?f - floor)
               (above ?low ?high - floor) (at ?f - floor) (aboard ?p - passenger) (served ?p - passenger))
  (:action stop
    :parameters (?f - floor)
    :precondition (at ?f)
    :effect (and (forall (?p - passenger)
                   (when (and (aboard ?p) (destination ?p ?f)) (and (not (aboard ?p)) (served ?p))))
                 (forall (?p - passenger)
                   (when (and (origin ?p ?f) (not (served ?p))) (aboard ?p)))))
  (:action move
    :parameters (?from ?to - floor)
    :precondition (and (at ?from) (or (above ?from ?to) (above ?to ?from)))
    :effect (and (at ?to) (not (at ?from)))))
